// Lets the kernel copy /dev/zero to stdout.
// limits: flood_bytes=4000000 wall_ms=30000
// ends: output
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/sendfile.h>

int main(void) {
    int zeros = open("/dev/zero", O_RDONLY);
    for (;;) {
        splice(zeros, 0, 1, 0, 1 << 20, 0);
        sendfile(1, zeros, 0, 1 << 20);
    }
}
