/* Starts the program, and ends it with all that it has started. */

#define _GNU_SOURCE
#include "warden.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void limit(int kind, uint64_t soft, uint64_t hard) {
    struct rlimit most, now;
    if (getrlimit(kind, &most)) return;
    now.rlim_max = hard < most.rlim_max ? hard : most.rlim_max;
    now.rlim_cur = soft < now.rlim_max ? soft : now.rlim_max;
    setrlimit(kind, &now);
}

static uint64_t most_waiting(void) {
    struct rlimit most;
    return getrlimit(RLIMIT_SIGPENDING, &most) ? 0 : most.rlim_cur;
}

static void set_limits(const struct order *order) {
    limit(RLIMIT_CORE, 0, 0);
    /* Where nothing can be queued any more, a signal says of nobody that he has sent it, as if it
       came from outside. We can always be sent more than the program can have waiting. */
    limit(RLIMIT_SIGPENDING, most_waiting() / 2, most_waiting() / 2);
    limit(RLIMIT_FSIZE, order->file_bytes, order->file_bytes);
    limit(RLIMIT_NOFILE, order->open_files, order->open_files);
    limit(RLIMIT_STACK, order->stack_bytes, order->stack_bytes);
    if (order->cpu_ms) { /* a backstop for one process; we watch the whole tree */
        uint64_t seconds = order->cpu_ms / 1000 + 2;
        limit(RLIMIT_CPU, seconds, seconds);
    }
    if (!meters_metered()) { /* a bomb is faster than we look, and this much can be seen */
        uint64_t most = order->processes + 8;
        limit(RLIMIT_NPROC, most, most);
    }
    if (order->space_bytes) limit(RLIMIT_AS, order->space_bytes, order->space_bytes);
}

/* If memory is short, it is the program's. Not its own to write before it is one: until then it is
   as little dumpable as we are, and its /proc is root's. */
static void make_first_to_go(pid_t pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/oom_score_adj", (int)pid);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    if (write(fd, "1000", 4) < 0) errno = 0; /* then the largest one goes */
    close(fd);
}

static void become(const struct order *order) {
    sigset_t none;
    setsid();
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    set_limits(order);
    environ = order->env;
    execvp(order->argv[0], order->argv);
}

static int open_pipes(int pipes[3][2]) {
    for (int number = 0; number < 3; number++)
        if (pipe2(pipes[number], O_CLOEXEC)) return errno;
    return 0;
}

static void close_side(int pipes[3][2], int theirs) {
    for (int number = 0; number < 3; number++) {
        int *end = &pipes[number][theirs ? number != 0 : number == 0];
        if (*end >= 0) close(*end);
        *end = -1;
    }
}

/* The rest is closed on exec. */
static void take_pipes(int pipes[3][2]) {
    for (int number = 0; number < 3; number++) dup2(pipes[number][number != 0], number);
}

static int try_to_start(const struct order *order, int pipes[3][2], pid_t *pid) {
    int line[2], error = 0;
    if (pipe2(line, O_CLOEXEC)) return errno;
    *pid = fork();
    if (!*pid) {
        take_pipes(pipes);
        become(order);
        error = errno;
        if (write(line[1], &error, sizeof error) < 0) _exit(125);
        _exit(126);
    }
    error = *pid < 0 ? errno : 0;
    close(line[1]);
    if (!error && read_fully(line[0], &error, sizeof error)) error = 0;
    close(line[0]);
    if (!error) make_first_to_go(*pid);
    return error;
}

/* Its three streams are pipes that nobody else has: whatever it does to them ends with it. */
int start_program(const struct order *order, struct ends *ends, pid_t *pid) {
    int pipes[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
    int error = open_pipes(pipes);
    if (!error) error = try_to_start(order, pipes, pid);
    close_side(pipes, 1);
    if (error) close_side(pipes, 0);
    *ends = (struct ends){pipes[0][1], pipes[1][0], pipes[2][0]};
    return error;
}

/* Process 1 reaches everybody with that; anybody else, all of the same user. Who is just being
   started is caught the next time. */
void end_everybody(void) {
    const struct timespec moment = {0, 1000000};
    for (;;) {
        int alone = kill(-1, SIGKILL) && errno == ESRCH;
        struct rusage used;
        pid_t reaped;
        while ((reaped = wait4(-1, NULL, WNOHANG, &used)) > 0) meters_reaped(&used);
        if (alone && reaped < 0) return;
        nanosleep(&moment, NULL);
    }
}
