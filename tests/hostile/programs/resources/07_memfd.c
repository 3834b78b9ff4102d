// 7. Files that have no name and lie nowhere are memory. Without a cgroup they are refused.
// limits: memory_mb=32
// ends: memory
// ends at sampled: exit 0
// says at sampled: refused
// ends on gvisor: wall_time
// may say on gvisor:
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int main(void) {
    static char block[1 << 20];
    for (;;) {
        int file = memfd_create("hostile", 0);
        if (file < 0) return puts("refused") < 0;
        for (int i = 0; i < 8; i++) write(file, block, sizeof block);
    }
}
