// A vector that grows for ever.
// limits: memory_mb=64
// ends: memory
#include <vector>

int main() {
    std::vector<int> numbers;
    for (;;) numbers.push_back(1);
}
