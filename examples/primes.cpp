// Reads n, prints the primes up to n.
#include <iostream>
#include <vector>

int main() {
    std::size_t n = 0;
    std::cin >> n;
    std::vector<bool> composite(n + 1);
    for (std::size_t p = 2; p <= n; ++p) {
        if (composite[p]) continue;
        std::cout << p << '\n';
        for (std::size_t multiple = p * p; multiple <= n; multiple += p) composite[multiple] = true;
    }
}
