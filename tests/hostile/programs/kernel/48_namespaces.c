// 48. Makes namespaces of its own, in which it would be root: most holes in the kernel start so.
// ends: exit 0
// says: held
// may say on gvisor: unshare *: done
// may say on gvisor: clone *: done
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int got_through;

static void refused(const char *what, unsigned long flags, long result) {
    if (result < 0 && errno == EPERM) return;
    if (result == 0 && strcmp(what, "clone") == 0) _exit(0);  // the child
    printf("%s %lx: %s\n", what, flags, result < 0 ? strerror(errno) : "done");
    got_through = 1;
}

int main(void) {
    unsigned long kinds[] = {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET,
                             CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP, 0x80 /* time */};
    for (int i = 0; i < 8; i++) {
        refused("unshare", kinds[i], unshare(kinds[i]));
        refused("unshare", kinds[i], unshare(kinds[i] | CLONE_NEWUSER));
        if (kinds[i] == 0x80) continue;  // clone() reads these bits as a signal
        unsigned long high = 1UL << 32, all = kinds[i] | SIGCHLD;
        refused("clone", all, syscall(SYS_clone, all, 0, 0, 0, 0));
        refused("clone", all | high, syscall(SYS_clone, all | high, 0, 0, 0, 0));
        all |= CLONE_NEWUSER;
        refused("clone", all, syscall(SYS_clone, all, 0, 0, 0, 0));
    }
    if (!got_through) puts("held");
    return got_through;
}
