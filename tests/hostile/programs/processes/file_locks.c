// Two million locks on single bytes. What the kernel keeps of each of them is memory, too.
// limits: memory_mb=32 files=5000 wall_ms=8000
// ends: memory
// ends on gvisor: wall_time
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static void lock_bytes(int file) {
    for (int at = 1000; at > 0; at--) {
        struct flock one = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 2 * at, .l_len = 1};
        if (fcntl(file, F_SETLK, &one)) _exit(0);
    }
}

int main(void) {
    char name[64];
    fork();
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "hostile-%d-%d", getpid(), i);
        lock_bytes(open(name, O_RDWR | O_CREAT, 0600));
    }
    pause();
}
