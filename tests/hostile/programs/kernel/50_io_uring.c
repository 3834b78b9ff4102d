// 50. io_uring does system calls where no filter sees them.
// ends: exit 0
// says: held
// may say on gvisor: io_uring_setup: done
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    char parameters[256] = {0};
    int got_through = 0;
    const char *names[] = {"io_uring_setup", "io_uring_enter", "io_uring_register"};
    for (int i = 0; i < 3; i++) {  // 425 and on, on every architecture
        long result = syscall(425 + i, 8, parameters, 0, 0, 0, 0);
        if (result < 0 && errno == ENOSYS) continue;
        printf("%s: %s\n", names[i], result < 0 ? strerror(errno) : "done");
        got_through = 1;
    }
    if (!got_through) puts("held");
    return got_through;
}
