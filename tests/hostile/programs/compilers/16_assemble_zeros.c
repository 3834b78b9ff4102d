// The assembler reads what never ends.
// compile limits: memory_mb=128 disk_mb=64 wall_ms=30000
// compiles: memory | exit 1
__asm__(".incbin \"/dev/zero\"");

int main(void) {}
