// 51. Pushes ahead of everybody: real time, negative niceness, and process 1 held back.
// ends: exit 0
// says: held
// may say on gvisor: *: done
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static int got_through;

static void refused(const char *what, long result, int reason) {
    if (result < 0 && errno == reason) return;
    printf("%s: %s\n", what, result < 0 ? strerror(errno) : "done");
    got_through = 1;
}

int main(void) {
    struct sched_param first = {.sched_priority = 1}, none = {0};
    refused("SCHED_FIFO", sched_setscheduler(0, SCHED_FIFO, &first), EPERM);
    refused("SCHED_RR", sched_setscheduler(0, SCHED_RR, &first), EPERM);
    struct { unsigned size, policy; unsigned long flags; int nice; unsigned priority;
             unsigned long runtime, deadline, period; }
        soon = {48, 6 /* SCHED_DEADLINE */, 0, 0, 0, 1000000, 10000000, 10000000};
    refused("SCHED_DEADLINE", syscall(SYS_sched_setattr, 0, &soon, 0), EPERM);
    refused("nice -20", setpriority(PRIO_PROCESS, 0, -20), EACCES);
    refused("real-time i/o", syscall(SYS_ioprio_set, 1, 0, 1 << 13), EPERM);

    // Process 1 looks after the limits; whoever starves it escapes them for a while.
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    refused("starve process 1", sched_setscheduler(1, SCHED_IDLE, &none), EPERM);
    refused("pin process 1", sched_setaffinity(1, sizeof one, &one), EPERM);
    refused("renice process 1", setpriority(PRIO_PROCESS, 1, 19), EPERM);
    refused("renice the user", setpriority(PRIO_USER, 0, 19), EPERM);
    refused("idle i/o for the user", syscall(SYS_ioprio_set, 3, getuid(), 3 << 13), EPERM);
    if (!got_through) puts("held");
    return got_through;
}
