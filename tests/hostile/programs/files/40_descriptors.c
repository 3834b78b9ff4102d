// 40. Looks for descriptors that somebody forgot to close.
// ends: exit 0
// says: held
// not on gvisor: a million calls take it half a minute
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

int main(void) {
    int got_through = 0;
    struct stat status;
    for (int fd = 0; fd < 3; fd++)
        if (fstat(fd, &status) || !S_ISFIFO(status.st_mode)) {
            printf("stream %d is no pipe\n", fd);
            got_through = 1;
        }
    for (int fd = 3; fd < 1 << 20; fd++)
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) {
            printf("%d is open\n", fd);
            got_through = 1;
        }
    if (!got_through) puts("held");
    return got_through;
}
