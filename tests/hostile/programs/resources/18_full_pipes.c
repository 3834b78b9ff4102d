// A thousand pipes, each filled. The kernel's buffers are memory, but only a cgroup can see them.
// limits: memory_mb=32 wall_ms=3000
// ends: memory
// ends at sampled: memory | wall_time
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>

int main(void) {
    static char block[1 << 16];
    int ends[2];
    while (pipe2(ends, O_NONBLOCK) == 0) {
        fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
        while (write(ends[1], block, sizeof block) > 0)
            ;
    }
    pause();
}
