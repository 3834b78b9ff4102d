/* What the spawner and warm interpreters load, to start and to fork boxes: see process1.c. */
#define _GNU_SOURCE
#include "process1.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

/* ---- in the spawner ------------------------------------------------------------------------- */

int process1_version(void)
{
    return VERSION;
}

struct beginning {
    const char *program;
    int channel;
};

static int begin(void *argument)
{
    const struct beginning *how = argument;
    char *words[] = {(char *)how->program, NULL}, *nothing[] = {NULL};
    /* A descriptor that has the right number already would be closed by exec. */
    if (how->channel == CHANNEL ? fcntl(CHANNEL, F_SETFD, 0) : dup2(how->channel, CHANNEL) < 0)
        _exit(127);
    execve(how->program, words, nothing);
    _exit(127);
}

/* Start the program in a pid namespace of its own, without a copy of our memory. Returns its id. */
int process1_start(const char *program, int channel, int *pidfd)
{
    static _Alignas(16) char stack[16 * 1024]; /* of the child, which has it until it executes */
    struct beginning how = {program, channel};
    int flags = CLONE_VM | CLONE_VFORK | CLONE_NEWPID | CLONE_PIDFD | SIGCHLD;
    return clone(begin, stack + sizeof stack, flags, &how, pidfd);
}

/* ---- in a warm interpreter ------------------------------------------------------------------ */

/* Have the kernel make our own copies of memory that is shared with others: of so many ranges, each
 * an address and a length. Where it cannot, they are made when they are needed. */
void process1_copy(const uint64_t *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++)
        madvise((void *)ranges[2 * i], ranges[2 * i + 1], MADV_POPULATE_WRITE);
}

/* Fork a box, and in it the program. Returns 0 in the program, which has yet to get its job; in the
 * interpreter a descriptor for process 1, or -1 and errno. In process 1 it does not return. */
int process1_fork(char *plan, const int *fds, int count, int own_namespace)
{
    if (unshare(CLONE_NEWPID) < 0) /* for the next child */
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGCHLD, SIG_DFL);
        place(fds, count, CHANNEL);
        play(plan);
        pid_t program = fork();
        if (program < 0)
            fail("program", strerror(errno));
        if (program > 0)
            live(program);
        setsid();
        prctl(PR_SET_DUMPABLE, 1); /* as after any exec */
        return 0;
    }
    int pidfd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
    int error = errno;
    if (pid > 0 && pidfd < 0)
        kill(pid, SIGKILL);
    if (setns(own_namespace, CLONE_NEWPID) < 0)
        _exit(70); /* the next box would be in this one's namespace */
    errno = error;
    return pidfd;
}
