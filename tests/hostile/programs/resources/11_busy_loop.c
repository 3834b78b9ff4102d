// 11. Does nothing, busily.
// limits: wall_ms=1000
// ends: wall_time
int main(void) {
    for (;;) __asm__ volatile("");
}
