// The assembler is told to repeat a byte for ever and a day.
// compile limits: memory_mb=128 disk_mb=64 wall_ms=30000
// compiles: memory | exit 1
__asm__(".rept 1 << 40\n.byte 1\n.endr");

int main(void) {}
