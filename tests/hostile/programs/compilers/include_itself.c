// Includes itself, twice. The compiler counts to two hundred, and then complains without end.
// compile limits: flood_bytes=1000000 wall_ms=30000
// compiles: output
#include __FILE__
#include __FILE__

int main(void) {}
