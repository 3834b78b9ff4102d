// A computation that the compiler has to do, and that never ends: it gives up by itself.
// compile limits: wall_ms=30000
// compiles: exit 1
constexpr long forever() {
    long n = 0;
    for (;;) n++;
    return n;
}

static_assert(forever() > 0);

int main() {}
