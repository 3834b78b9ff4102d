// Computations that end, but not within anybody's lifetime: each stays below the compiler's limit.
// compile limits: wall_ms=2000
// compiles: wall_time
constexpr long count(long start) {
    for (int i = 0; i < 200000; i++) start += i & 1;
    return start;
}

template <int depth, long number>
constexpr long all() {
    if constexpr (depth == 0)
        return count(number);
    else
        return all<depth - 1, 2 * number>() + all<depth - 1, 2 * number + 1>();
}

static_assert(all<10, 1>() == 0);

int main() {}
