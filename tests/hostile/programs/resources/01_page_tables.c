// Reads one byte of every 2 MB. The pages are all the same zero page, but the tables are not.
// limits: memory_mb=64
// ends: memory
#include <sys/mman.h>

int main(void) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    for (;;) {
        volatile char *sparse = mmap(0, 1L << 30, PROT_READ, flags, -1, 0);
        for (long at = 0; at < 1L << 30; at += 2 << 20) (void)sparse[at];
    }
}
