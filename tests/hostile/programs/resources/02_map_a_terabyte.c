// 2. Maps a terabyte and touches none of it: harmless.
// ends: exit 0
// says: harmless
#include <stdio.h>
#include <sys/mman.h>

int main(void) {
    mmap(0, 1L << 40, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    puts("harmless");
}
