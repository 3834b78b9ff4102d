// A header that never ends and is different each time.
// compile limits: memory_mb=128 wall_ms=30000
// compiles: memory
#include "/dev/urandom"

int main() {}
