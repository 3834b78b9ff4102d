// Shared anonymous memory. It belongs to no single process, so without a cgroup it is refused.
// limits: memory_mb=64
// ends: memory
// ends at sampled: exit 0
// says at sampled: refused
// ends on gvisor: memory
// may say on gvisor:
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

int main(void) {
    for (;;) {
        void *piece =
            mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (piece == MAP_FAILED) return puts("refused") < 0;
        memset(piece, 1, 1 << 20);
    }
}
