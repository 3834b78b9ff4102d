// Huge pages: 2 MB appear at one touch. Those of a pool (MAP_HUGETLB) are not to be had.
// limits: memory_mb=64
// ends: memory
#include <sys/mman.h>

#define SIZE (16L << 20)

int main(void) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    for (;;) {
        char *piece = mmap(0, SIZE, PROT_READ | PROT_WRITE, flags | MAP_HUGETLB, -1, 0);
        if (piece == MAP_FAILED) piece = mmap(0, SIZE, PROT_READ | PROT_WRITE, flags, -1, 0);
        madvise(piece, SIZE, MADV_HUGEPAGE);
        for (long at = 0; at < SIZE; at += 4096) piece[at] = 1;
    }
}
