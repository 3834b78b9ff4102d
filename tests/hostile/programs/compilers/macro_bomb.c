// Every macro stands for ten of the one before.
// compile limits: memory_mb=128 wall_ms=30000
// compiles: memory
#define TEN(x) x x x x x x x x x x
#define A TEN(1,)
#define B TEN(A)
#define C TEN(B)
#define D TEN(C)
#define E TEN(D)
#define F TEN(E)
#define G TEN(F)
#define H TEN(G)

int numbers[] = {H};

int main(void) {}
