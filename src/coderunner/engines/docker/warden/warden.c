/* The first process of a container: it starts the program, watches it, and says how it ended.

       warden run            the order comes on stdin (order.c); what follows it there is the
                             program's own stdin. The program's stdout and stderr are ours.

   When the program has ended, everybody who is left is killed. Then, behind all that was written,
   come on both streams the token that the order has named, on stdout the files of the workspace
   if they were asked for, and on stderr one line:

       ended WHY CODE SIGNAL WALL_US CPU_US PEAK_KB
       failed STAGE ERRNO

   The program is of the same user as this process. It cannot kill it, since nobody can kill process
   1 of his own pid namespace; nor look into it (it is not dumpable), so that it does not know the
   token; nor starve it, since the system-call filter keeps it from setting others' limits. */

#define _GNU_SOURCE
#include "warden.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOK_EVERY_US 20000
#define SAMPLE_EVERY_US 10000
#define LOCKS_EVERY_US 100000
#define SOONEST_US 2000

static struct order order;
static pid_t program;
static int status = -1;

static uint64_t now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000;
}

static int fail(const char *stage, int error) {
    char words[100];
    int size = snprintf(words, sizeof words, "failed %s %d\n", stage, error);
    say(1, order.token, TOKEN_SIZE);
    say(2, order.token, TOKEN_SIZE);
    say(2, words, (size_t)size);
    return 0;
}

static void reap(void) {
    int how;
    for (pid_t pid; (pid = waitpid(-1, &how, WNOHANG)) > 0;)
        if (pid == program) status = how;
}

/* Somebody outside asks for the end. The program could do so too, but it is told apart. */
static int asked_to_end(int signals) {
    struct signalfd_siginfo one;
    int asked = 0;
    while (read(signals, &one, sizeof one) == sizeof one)
        asked |= one.ssi_signo == SIGTERM && one.ssi_code == SI_USER && one.ssi_pid == 0;
    return asked;
}

static const char *breach(uint64_t now, uint64_t deadline) {
    static uint64_t locks_looked_at;
    uint64_t tasks = 0;
    if (now >= deadline) return "wall_time";
    if (now - locks_looked_at > LOCKS_EVERY_US) {
        locks_looked_at = now;
        if (meters_too_many_locks()) return "memory";
    }
    if (!meters_metered()) {
        meters_sample(&tasks);
        if (tasks > order.processes) return "processes";
        if (meters_peak_kb() > order.memory_kb) return "memory";
    }
    if (meters_out_of_memory()) return "memory";
    if (meters_too_many()) return "processes";
    if (order.cpu_ms && meters_cpu_us() >= order.cpu_ms * 1000) return "cpu_time";
    return NULL;
}

static uint64_t pause_us(uint64_t now, uint64_t deadline) {
    uint64_t pause = meters_metered() ? LOOK_EVERY_US : SAMPLE_EVERY_US;
    if (order.cpu_ms) {
        uint64_t used = meters_cpu_us(), most = order.cpu_ms * 1000;
        uint64_t left = used < most ? (most - used) / (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) : 0;
        if (left < pause) pause = left > SOONEST_US ? left : SOONEST_US;
    }
    return deadline > now && deadline - now < pause ? deadline - now : pause;
}

static const char *watch(int signals, uint64_t deadline) {
    struct pollfd waited = {signals, POLLIN, 0};
    for (;;) {
        uint64_t now = now_us(), us = pause_us(now, deadline);
        struct timespec pause = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};
        int asked = ppoll(&waited, 1, &pause, NULL) > 0 && asked_to_end(signals);
        reap();
        if (status >= 0) return NULL;
        if (asked) return "killed";
        const char *why = breach(now_us(), deadline);
        if (why) return why;
    }
}

/* The end came by itself; but what the kernel did for a limit's sake is the limit's doing. */
static const char *reason(void) {
    if (meters_out_of_memory()) return "memory";
    if (meters_too_many()) return "processes";
    if (order.cpu_ms && meters_cpu_us() >= order.cpu_ms * 1000) return "cpu_time";
    return WIFSIGNALED(status) ? "signal" : "exit";
}

static void conclude(const char *why, uint64_t wall_us) {
    char words[200];
    int exited = status >= 0 && WIFEXITED(status);
    int size = snprintf(words, sizeof words, "ended %s %d %d %llu %llu %llu\n",
                        why ? why : reason(), exited ? WEXITSTATUS(status) : -1,
                        exited ? 0 : status >= 0 ? WTERMSIG(status) : SIGKILL,
                        (unsigned long long)wall_us, (unsigned long long)meters_cpu_us(),
                        (unsigned long long)meters_peak_kb());
    say(1, order.token, TOKEN_SIZE);
    say(2, order.token, TOKEN_SIZE);
    say(2, words, (size_t)size);
    if (order.collect) send_workspace(&order);
}

static int run(void) {
    sigset_t ours;
    /* First of all: who asks process 1 too early has not asked. */
    sigemptyset(&ours);
    sigaddset(&ours, SIGCHLD);
    sigaddset(&ours, SIGTERM);
    sigprocmask(SIG_BLOCK, &ours, NULL);
    signal(SIGPIPE, SIG_IGN);
    int error = read_order(&order);
    if (error) return 125; /* without an order nobody is there to tell */
    int signals = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals < 0) return fail("signals", errno);
    meters_open();
    if ((error = read_entries(&order))) return fail("files", error);
    meters_trust(order.memory_kb + order.brought_kb);
    meters_start(order.brought_kb);
    uint64_t began = now_us(), deadline = began + order.wall_ms * 1000;
    if ((error = start_program(&order, &program))) return fail("start", error);
    const char *why = watch(signals, deadline);
    uint64_t ended = now_us();
    end_everybody();
    conclude(why, ended - began);
    return 0;
}

int main(int count, char **words) {
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_NAME, "warden");
    if (count == 2 && !strcmp(words[1], "run")) return run();
    return 64;
}
