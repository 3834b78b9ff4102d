// 57. Becomes root, or anybody else, by every call that changes who one is.
// ends: exit 0
// says: held
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int got_through;

static void refused(const char *what, unsigned id, long result) {
    if (result < 0 && errno == EPERM) return;
    printf("%s %u: %s\n", what, id, result < 0 ? strerror(errno) : "done");
    got_through = 1;
}

int main(void) {
    unsigned ids[] = {0, 1, 65534, getuid() + 1, 60000};
    for (int i = 0; i < 5; i++) {
        unsigned id = ids[i];
        refused("setuid", id, syscall(SYS_setuid, id));
        refused("setgid", id, syscall(SYS_setgid, id));
        refused("setuid with high bits", id, syscall(SYS_setuid, id | 1L << 32));
        refused("setreuid", id, syscall(SYS_setreuid, -1, id));
        refused("setregid", id, syscall(SYS_setregid, id, -1));
        refused("setresuid", id, syscall(SYS_setresuid, -1, -1, id));
        refused("setresgid", id, syscall(SYS_setresgid, -1, id, -1));
        gid_t groups[] = {id, getgid()};
        refused("setgroups", id, syscall(SYS_setgroups, 2, groups));
    }
    refused("setgroups to none", 0, syscall(SYS_setgroups, 0, 0));
    unsigned header[] = {0x20080522, 0}, data[] = {~0u, ~0u, 0, ~0u, ~0u, 0};
    refused("capset", 0, syscall(SYS_capset, header, data));
    if (setuid(getuid())) puts("one may stay who one is"), got_through = 1;  // control
    if (!got_through) puts("held");
    return got_through;
}
