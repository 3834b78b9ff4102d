// Arrays from new, each of them used.
// limits: memory_mb=64
// ends: memory
#include <algorithm>

int main() {
    for (;;) {
        auto *numbers = new int[1 << 18];
        std::fill_n(numbers, 1 << 18, 1);
        asm volatile("" : : "r"(numbers) : "memory");  // or the compiler sees that nobody reads them
    }
}
