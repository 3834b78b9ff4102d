// 55. Reads and writes the memory of other processes, its own children's to begin with.
// ends: exit 0
// says: held
// ends in containers: exit 0 | exit 1
// may say in containers: /proc/1/mem: Permission denied
// ends on gvisor: exit 1 | exit 127
// may say on gvisor: attach of *: done
// may say on gvisor: trace me of *: done
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int got_through;
static char secret[] = "secret";

static void refused(const char *what, int pid, long result) {
    if (result < 0 && errno == EPERM) return;
    printf("%s of %d: %s\n", what, pid, result < 0 ? strerror(errno) : "done");
    got_through = 1;
}

int main(void) {
    int child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    char mine[8];
    struct iovec here = {mine, 6}, there = {secret, 6};
    int pids[] = {child, getpid(), 1, getppid(), 2};
    for (int i = 0; i < 5; i++) {
        int pid = pids[i], pidfd = syscall(SYS_pidfd_open, pid, 0);
        refused("attach", pid, ptrace(PTRACE_ATTACH, pid, 0, 0));
        refused("seize", pid, ptrace(PTRACE_SEIZE, pid, 0, 0));
        refused("read", pid, process_vm_readv(pid, &here, 1, &there, 1, 0));
        refused("write", pid, process_vm_writev(pid, &here, 1, &there, 1, 0));
        refused("descriptor", pid, syscall(SYS_pidfd_getfd, pidfd, 0, 0));
        refused("advice", pid, syscall(SYS_process_madvise, pidfd, &there, 1, 4, 0));
        refused("comparison", pid, syscall(SYS_kcmp, pid, getpid(), 0, 0, 0));
    }
    refused("trace me", getpid(), ptrace(PTRACE_TRACEME, 0, 0, 0));
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/mem", 1);
    errno = 0;
    if (open(path, O_RDWR) >= 0 || errno != ENOENT) {
        printf("%s: %s\n", path, strerror(errno));
        got_through = 1;
    }
    kill(child, SIGKILL);
    if (!got_through) puts("held");
    return got_through;
}
