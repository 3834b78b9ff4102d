/* Process 1 of a box, compiled: the same as `inside.py`, for a tenth of the time.
 *
 * Built twice. As a program it is process 1 of a cold box, started by the spawner. As a library it
 * is loaded by warm interpreters, which fork boxes: there it keeps all that happens in a new process
 * before the program away from the interpreter, whose memory would be copied at every touch.
 *
 * It decides nothing. What it does until the box is ready is a plan (`plan.py`): a list of system
 * calls made by the spawner. What it does afterwards is: wait for a job, start it, wait for its end,
 * kill what it left, report, exit.
 *
 * Where nobody has compiled it, `player.py` and `inside.py` do the same. The tests run both.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

#define VERSION 1 /* of the plan and of the job, and of what stands below */

enum { CHANNEL = 3 }; /* the line to the spawner; what else is handed over comes after it */
enum { MOST_FDS = 16, MOST_ARGS = 6, REGISTERS = 4, OUT_OF_THE_WAY = 32 };
enum { LARGEST_PACKET = 192 * 1024, LARGEST_FILE = 32 * 1024, LONGEST_REPORT = 1024 };

/* ---- the plan: see plan.py, which writes it ------------------------------------------------- */

enum kind { CALL = 1, WRITE = 2, ENDINGS = 3, ELSEWHERE = 4, STORE = 5 };
enum meaning { VALUE = 0, PLACE = 1, KEPT = 2 }; /* of an argument: two bits each */

struct plan {
    uint32_t version, steps;
};

struct step {
    uint8_t kind;
    uint8_t keep;       /* the result, in this register; 0: nowhere */
    uint16_t meanings;  /* of the arguments */
    uint16_t may_fail;  /* with this error, which is none then */
    uint16_t must_fail; /* with this error; all else is one */
    uint32_t number;    /* of the system call */
    uint32_t name;      /* where it is, for messages */
    int64_t args[MOST_ARGS];
};

/* ---- what a job is: see protocol.py --------------------------------------------------------- */

struct job {
    uint32_t words, variables; /* so many strings follow, of either */
    int64_t open_files, address_space, cpu_seconds; /* limits; -1: none */
};

/* ---- reports: JSON, as everything that the spawner is told ---------------------------------- */

static void say(const char *format, ...)
{
    char text[LONGEST_REPORT];
    va_list values;
    va_start(values, format);
    int length = vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (length >= (int)sizeof text || send(CHANNEL, text, length, MSG_NOSIGNAL) < 0)
        _exit(1); /* nobody is there to hear it */
}

/* Text for a JSON string: what must not stand in one becomes a space. */
static const char *plain(char *text)
{
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c > '~' || *c == '"' || *c == '\\')
            *c = ' ';
    return text;
}

static _Noreturn void fail(const char *name, const char *why)
{
    char text[LONGEST_REPORT / 2];
    snprintf(text, sizeof text, "%s: %s", name, why);
    say("{\"op\":\"report\",\"failed\":\"%s\"}", plain(text));
    _exit(1);
}

/* ---- playing a plan ------------------------------------------------------------------------- */

static ssize_t read_all(const char *path, char *text, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    size_t length = 0;
    ssize_t count;
    while (length < room - 1 && (count = read(fd, text + length, room - 1 - length)) > 0)
        length += count;
    close(fd);
    text[length] = 0;
    return length;
}

static int write_all(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t written = write(fd, text, strlen(text));
    int error = errno;
    close(fd);
    errno = error;
    return written < 0 ? -1 : 0;
}

/* So many lines of a file must end like this, for each of these. They follow one another; an empty
 * one is the end. */
static void check_endings(const char *name, const char *path, const char *ending, int64_t times)
{
    char text[LARGEST_FILE], line_end[128], why[LONGEST_REPORT / 2];
    if (read_all(path, text, sizeof text) < 0)
        fail(name, strerror(errno));
    for (; *ending; ending += strlen(ending) + 1) {
        int64_t found = 0;
        snprintf(line_end, sizeof line_end, "%s\n", ending);
        for (char *at = text; (at = strstr(at, line_end)) != NULL; at++)
            found++;
        if (found != times) {
            snprintf(why, sizeof why, "%s does not say '%s'", path, ending);
            fail(name, why);
        }
    }
}

static void check_elsewhere(const char *name, const char *path, const char *outside)
{
    char target[64];
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length < 0)
        fail(name, strerror(errno));
    target[length] = 0;
    if (strcmp(target, outside) == 0)
        fail(name, "it is that of the spawner");
}

static void check_result(const struct step *step, const char *name, long result)
{
    int error = result < 0 ? errno : 0;
    if (step->must_fail && error != step->must_fail)
        fail(name, error ? strerror(error) : "nobody minds");
    if (error && error != step->may_fail && error != step->must_fail)
        fail(name, strerror(error));
}

static void play(char *base)
{
    const struct plan *plan = (const struct plan *)base;
    const struct step *step = (const struct step *)(plan + 1);
    int64_t registers[REGISTERS] = {0};
    if (plan->version != VERSION)
        fail("plan", "made for another version of process 1");
    for (uint32_t i = 0; i < plan->steps; i++, step++) {
        const char *name = base + step->name;
        int64_t a[MOST_ARGS];
        long result = 0;
        for (int n = 0; n < MOST_ARGS; n++) {
            int meaning = step->meanings >> 2 * n & 3;
            a[n] = meaning == PLACE  ? (int64_t)(base + step->args[n])
                   : meaning == KEPT ? registers[step->args[n]]
                                     : step->args[n];
        }
        switch (step->kind) {
        case CALL:
            result = syscall(step->number, a[0], a[1], a[2], a[3], a[4], a[5]);
            break;
        case WRITE:
            result = write_all((const char *)a[0], (const char *)a[1]);
            break;
        case ENDINGS:
            check_endings(name, (const char *)a[0], (const char *)a[1], a[2]);
            break;
        case ELSEWHERE:
            check_elsewhere(name, (const char *)a[0], (const char *)a[1]);
            break;
        case STORE:
            *(int64_t *)a[0] = a[1];
            break;
        default:
            fail(name, "no such step");
        }
        check_result(step, name, result);
        if (step->keep)
            registers[step->keep] = result;
    }
}

/* ---- descriptors ---------------------------------------------------------------------------- */

/* Give descriptors the numbers that a plan knows them by: `first` and those after it. */
static void place(const int *fds, int count, int first)
{
    int away[MOST_FDS];
    for (int i = 0; i < count; i++)
        if ((away[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, OUT_OF_THE_WAY)) < 0)
            _exit(1);
    for (int i = 0; i < count; i++)
        if (dup3(away[i], first + i, O_CLOEXEC) < 0)
            _exit(1);
}

/* One packet and its descriptors; 0 once the other side is gone. */
static ssize_t receive(char *packet, size_t room, int *fds, int *count)
{
    char control[CMSG_SPACE(MOST_FDS * sizeof(int))];
    struct iovec part = {packet, room};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t length;
    do
        length = recvmsg(CHANNEL, &message, MSG_CMSG_CLOEXEC);
    while (length < 0 && errno == EINTR);
    *count = 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
            *count = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
            memcpy(fds, CMSG_DATA(c), *count * sizeof(int));
        }
    if (length > 0 && message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
        fail("order", "too large");
    return length;
}

/* ---- the life of a program ------------------------------------------------------------------ */

static void reap_all(void)
{
    if (kill(-1, SIGKILL) == 0)
        while (wait(NULL) > 0 || errno == EINTR)
            ;
}

/* Wait for the program, take everything it left behind with us. */
static _Noreturn void live(pid_t program)
{
    struct timespec ended;
    struct rusage children;
    int status;
    pid_t pid;
    for (int fd = 0; fd < CHANNEL; fd++)
        close(fd);
    while ((pid = wait(&status)) != program)
        if (pid < 0 && errno != EINTR)
            _exit(1);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    reap_all(); /* so that its cpu time is counted, too */
    getrusage(RUSAGE_CHILDREN, &children);
    long long used_us = (children.ru_utime.tv_sec + children.ru_stime.tv_sec) * 1000000LL +
                        children.ru_utime.tv_usec + children.ru_stime.tv_usec;
    say("{\"op\":\"report\",\"status\":%d,\"ended_at\":%lld.%09ld,\"cpu_ms\":%lld.%03lld,"
        "\"max_rss_kb\":%ld}",
        status, (long long)ended.tv_sec, ended.tv_nsec, used_us / 1000, used_us % 1000,
        children.ru_maxrss);
    _exit(0);
}

static int limit(int resource, int64_t value)
{
    struct rlimit both = {value, value};
    return value < 0 ? 0 : setrlimit(resource, &both);
}

static int take(const struct job *job, const int *stdio)
{
    place(stdio, CHANNEL, 0);
    for (int fd = 0; fd < CHANNEL; fd++) /* these three are for the program to inherit */
        if (fcntl(fd, F_SETFD, 0) < 0)
            return errno;
    if (close_range(CHANNEL + 1, ~0U, 0) < 0 || limit(RLIMIT_NOFILE, job->open_files) < 0 ||
        limit(RLIMIT_AS, job->address_space) < 0 || limit(RLIMIT_CPU, job->cpu_seconds) < 0)
        return errno;
    return 0;
}

/* The program is on its way; or the error for which it is not. */
static int start(char **argv, char **envp, pid_t *program)
{
    posix_spawnattr_t how;
    sigset_t none, standard;
    sigemptyset(&none);
    sigemptyset(&standard);
    sigaddset(&standard, SIGPIPE); /* which Python has set otherwise */
    sigaddset(&standard, SIGXFSZ);
    sigaddset(&standard, SIGINT);
    posix_spawnattr_init(&how);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setsigdefault(&how, &standard);
    posix_spawnattr_setflags(
        &how, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    return posix_spawn(program, argv[0], NULL, &how, argv, envp);
}

/* `count` strings that follow one another; returns where the next one begins. */
static char *strings(char *text, uint32_t count, char **found)
{
    for (uint32_t i = 0; i < count; i++, text += strlen(text) + 1)
        found[i] = text;
    found[count] = NULL;
    return text;
}

static _Noreturn void run_job(char *packet)
{
    int stdio[MOST_FDS], count;
    ssize_t length = receive(packet, LARGEST_PACKET, stdio, &count);
    if (length <= 0)
        _exit(0); /* it was not needed */
    const struct job *job = (const struct job *)packet;
    if (count != CHANNEL || length < (ssize_t)sizeof *job || packet[length - 1] != 0)
        fail("job", "it makes no sense");
    char **words = calloc(job->words + job->variables + 2, sizeof *words);
    if (words == NULL)
        fail("job", strerror(errno));
    char **variables = words + job->words + 1;
    strings(strings(packet + sizeof *job, job->words, words), job->variables, variables);
    pid_t program = 0;
    int error = take(job, stdio);
    if (!error)
        error = start(words, variables, &program);
    if (error) {
        say("{\"op\":\"report\",\"start_errno\":%d}", error);
        _exit(1);
    }
    live(program);
}

/* ---- as a program: process 1 of a cold box -------------------------------------------------- */

int main(void)
{
    static _Alignas(8) char packet[LARGEST_PACKET];
    int fds[MOST_FDS], count;
    if (fcntl(CHANNEL, F_SETFD, FD_CLOEXEC) < 0) /* we inherited it, the program must not */
        return 1;
    if (receive(packet, sizeof packet, fds, &count) <= 0)
        return 0;
    place(fds, count, CHANNEL + 1);
    play(packet);
    say("{\"op\":\"report\",\"ready\":true}");
    run_job(packet);
}

/* ---- as a library: in the spawner ----------------------------------------------------------- */

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

/* ---- as a library: in a warm interpreter ---------------------------------------------------- */

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
    if (count > MOST_FDS || unshare(CLONE_NEWPID) < 0) /* for the next child */
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
