// 16. A header that never ends.
// compile limits: memory_mb=128 wall_ms=30000
// compiles: memory
#include "/dev/zero"

int main(void) {}
