// Endless recursion through a std::function.
// limits: stack_mb=8
// ends: signal 11
#include <functional>

int main() {
    std::function<long(long)> deeper = [&](long depth) { return deeper(depth + 1) + depth; };
    return static_cast<int>(deeper(0));
}
