// 49. The newer way to make namespaces, whose flags no filter can read.
// It must look as if the kernel did not have it: C libraries then use the older one.
// ends: exit 0
// says: held
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void) {
    unsigned long long arguments[11] = {0x10000000 /* a user namespace */};
    for (int size = 0; size <= 88; size += 8) {
        long pid = syscall(SYS_clone3, arguments, size);
        if (pid == 0) _exit(0);
        if (pid > 0 || errno != ENOSYS) {
            printf("clone3 with %d bytes: %s\n", size, pid > 0 ? "a child" : strerror(errno));
            return 1;
        }
    }
    puts("held");
}
