// 16. Each template needs two others.
// compile limits: memory_mb=128 wall_ms=30000
// compiles: memory
template <int depth, long number>
struct Bomb {
    Bomb<depth - 1, 2 * number> left;
    Bomb<depth - 1, 2 * number + 1> right;
};

template <long number>
struct Bomb<0, number> {};

int main() { return sizeof(Bomb<40, 1>); }
