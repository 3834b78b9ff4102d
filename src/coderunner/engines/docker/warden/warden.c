/* The first process of a container: it starts programs, one after the other, watches each, and says
   how it ended.

       warden run            orders come on stdin (order.c), what comes behind each is in frames

   order ─▶ HEARD ─▶ GO ─▶ run ─▶ end everybody ─▶ REPORT ─▶ wipe ─▶ DONE ─▶ WIPED ─▶ the next order

   Nothing starts before GO: who has not heard us in time goes elsewhere with that order. What the
   program writes goes through pipes of its own, and on in frames (pump.c): OUTPUT on our stdout
   and stderr. Behind that come, on stdout, its FILES if they were asked for, and END; on stderr the
   REPORT, one line behind the token that the order has named:

       ended WHY CODE SIGNAL WALL_US CPU_US PEAK_KB
       failed STAGE ERRNO

   An order that does not say `stay` is the last one. Else all that the program has left is removed
   (wiping.c), and WIPED says `clean`, or what is not. Who asks an idle warden to end (SIGTERM,
   or the signal ASK_TO_END), or closes its stdin, ends it.

   The program is of the same user as this process. It cannot kill it, since nobody can kill process
   1 of his own pid namespace; nor look into it (it is not dumpable), so that it knows no token, and
   has none of its pipes; nor starve it, since the system-call filter keeps it from setting others'
   limits. */

#define _GNU_SOURCE
#include "warden.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
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
#define MANY_SIGNALS 16 /* that are looked at at once */

static struct order order;
static pid_t program;
static int status, signals, asks;

uint64_t now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000;
}

static void report(const char *words) {
    tell(1, END, NULL, 0, NULL, 0);
    tell(2, REPORT, order.token, TOKEN_SIZE, words, strlen(words));
}

static void fail(const char *stage, int error) {
    char words[100];
    snprintf(words, sizeof words, "failed %s %d\n", stage, error);
    report(words);
}

static void reap(void) {
    struct rusage used;
    int how;
    for (pid_t pid; (pid = wait4(-1, &how, WNOHANG, &used)) > 0;) {
        meters_reaped(&used);
        if (pid == program) status = how;
    }
}

/* Who is outside. */
static int is_from_outside(const struct signalfd_siginfo *one) {
    return one->ssi_signo != SIGCHLD && one->ssi_code == SI_USER && one->ssi_pid == 0;
}

/* Somebody outside asks for the end. A program that sends SIGTERM is told apart, but while its own
   waits here no other one arrives: so there is a signal that the system-call filter keeps from it.
   However many it sends, this comes back. */
static int asked_to_end(void) {
    struct signalfd_siginfo some[MANY_SIGNALS];
    int asked = 0;
    for (int fd = 0; fd < 2; fd++) {
        ssize_t got = read(fd ? signals : asks, some, sizeof some);
        for (ssize_t one = 0; one < got / (ssize_t)sizeof *some; one++)
            asked |= is_from_outside(&some[one]);
    }
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
    meters_look();
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

/* However much there is to pump: the meters are looked at when it is time to. */
static const char *watch(uint64_t began, uint64_t deadline) {
    for (uint64_t next = began + pause_us(began, deadline);;) {
        uint64_t now = now_us();
        int seen = pump(signals, next > now ? next - now : 0);
        int asked = seen & SIGNALLED ? asked_to_end() : 0;
        if (seen & SIGNALLED) reap();
        if (status >= 0) return NULL;
        if (asked || seen & LEFT_ALONE) return "killed";
        if ((now = now_us()) < next) continue;
        reap();
        if (status >= 0) return NULL;
        const char *why = breach(now, deadline);
        if (why) return why;
        next = now + pause_us(now, deadline);
    }
}

/* The end came by itself; but what the kernel did for a limit's sake is the limit's doing. */
static const char *reason(void) {
    if (meters_out_of_memory()) return "memory";
    if (meters_too_many()) return "processes";
    if (order.cpu_ms && meters_cpu_us() >= order.cpu_ms * 1000) return "cpu_time";
    return WIFSIGNALED(status) ? "signal" : "exit";
}

static void run_program(void) {
    char words[200];
    struct ends ends;
    program = 0;
    status = -1;
    meters_trust(order.memory_kb + order.brought_kb);
    meters_start(order.brought_kb);
    uint64_t began = now_us();
    int error = start_program(&order, &ends, &program);
    if (error) {
        end_everybody();
        fail("start", error);
        return;
    }
    pump_start(&ends);
    const char *why = watch(began, began + order.wall_ms * 1000);
    uint64_t wall_us = now_us() - began;
    end_everybody();
    meters_look(); /* the files are still there */
    int exited = status >= 0 && WIFEXITED(status);
    snprintf(words, sizeof words, "ended %s %d %d %llu %llu %llu\n", why ? why : reason(),
             exited ? WEXITSTATUS(status) : -1,
             exited ? 0 : status >= 0 ? WTERMSIG(status) : SIGKILL, (unsigned long long)wall_us,
             (unsigned long long)meters_cpu_us(), (unsigned long long)meters_peak_kb());
    pump_rest();
    if (order.collect) send_workspace(&order);
    report(words);
}

static void say_how_clean(void) {
    char words[100] = "clean\n";
    int error = 0;
    const char *dirt = wipe(&error);
    if (dirt) snprintf(words, sizeof words, "dirty %s %d\n", dirt, error);
    if (pump_until_done()) exit(0);
    asked_to_end(); /* for the job that has ended; from here on it would be for us */
    tell(2, WIPED, order.token, TOKEN_SIZE, words, strlen(words));
}

/* Until an order comes. Not 0 if we are to end. */
static int idle(void) {
    struct pollfd waited[] = {{0, POLLIN, 0}, {signals, POLLIN, 0}};
    for (;;) {
        if (poll(waited, 2, -1) < 0 && errno != EINTR) return errno;
        if (waited[1].revents && asked_to_end()) return EINTR;
        if (waited[0].revents) return 0;
    }
}

static int run(void) {
    sigset_t ours, ask;
    /* First of all: who asks process 1 too early has not asked. */
    sigemptyset(&ours);
    sigaddset(&ours, SIGCHLD);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, ASK_TO_END);
    sigemptyset(&ask);
    sigaddset(&ask, ASK_TO_END);
    sigprocmask(SIG_BLOCK, &ours, NULL);
    signal(SIGPIPE, SIG_IGN);
    signals = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
    asks = signalfd(-1, &ask, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals < 0 || asks < 0 || pump_open()) return 125;
    meters_open();
    wiping_open();
    while (!idle()) {
        struct head head;
        if (read_order(&order)) return 125; /* without an order nobody is there to tell */
        tell(2, HEARD, order.token, TOKEN_SIZE, NULL, 0);
        int error = read_entries(&order);
        if (read_fully(0, &head, sizeof head) || head.kind != GO) return 125;
        if (error)
            fail("files", error);
        else
            run_program();
        if (!order.stay || chdir("/")) return 0;
        say_how_clean();
        forget_order(&order);
    }
    return 0;
}

int main(int count, char **words) {
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_NAME, "warden");
    if (count == 2 && !strcmp(words[1], "run")) return run();
    return 64;
}
