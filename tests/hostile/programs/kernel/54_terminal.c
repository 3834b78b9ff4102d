// 54. Types commands into the terminal of whoever started the runner.
// ends: exit 0
// says: held
// ends in containers: exit 0 | exit 1
// may say in containers: *: Operation not permitted
// may say in containers: /dev/tty: No such device or address
// may say in containers: /dev/ptmx: done
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int got_through;

static void refused(const char *what, long result, int reason) {
    if (result < 0 && errno == reason) return;
    printf("%s: %s\n", what, result < 0 ? strerror(errno) : "done");
    got_through = 1;
}

static long ask(int fd, unsigned long request) {
    static char letter[64] = "x";
    return syscall(SYS_ioctl, fd, request, letter);
}

int main(void) {
    unsigned long high[] = {0, 1UL << 32, 1UL << 63, 0xffffffff00000000};
    for (int fd = 0; fd < 3; fd++) {
        if (isatty(fd)) printf("stream %d is a terminal\n", fd), got_through = 1;
        for (int i = 0; i < 4; i++) {
            refused("TIOCSTI", ask(fd, 0x5412 | high[i]), EPERM);
            refused("TIOCLINUX", ask(fd, 0x541c | high[i]), EPERM);
            refused("TIOCSCTTY", ask(fd, 0x540e | high[i]), ENOTTY);
            refused("TIOCCONS", ask(fd, 0x541d | high[i]), ENOTTY);
            refused("TIOCSETD", ask(fd, 0x5423 | high[i]), ENOTTY);
            refused("KDSKBENT", ask(fd, 0x4b47 | high[i]), ENOTTY);
            refused("VT_ACTIVATE", ask(fd, 0x5606 | high[i]), ENOTTY);
        }
    }
    refused("/dev/tty", open("/dev/tty", O_RDWR), ENOENT);
    refused("/dev/console", open("/dev/console", O_RDWR), ENOENT);
    refused("/dev/ptmx", open("/dev/ptmx", O_RDWR), ENOENT);
    if (!got_through) puts("held");
    return got_through;
}
