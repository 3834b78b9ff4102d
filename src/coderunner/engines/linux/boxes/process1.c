/* Process 1 of a box, compiled: the same as `inside.py`, for a tenth of the time.
 *
 * Built twice. As a program it is process 1 of a cold box, started by the spawner. As a library
 * (`boxes.c`) it is loaded by the spawner and by warm interpreters. There it keeps all that happens
 * in a new process before the program away from the interpreter, whose memory would be copied at
 * every touch.
 *
 * It decides nothing. What it does until the box is ready is a plan (`plan.py`): a list of system
 * calls made by the spawner. What it does afterwards is: wait for a job, start it, wait for its end,
 * kill what it left, report, exit.
 *
 * Where nobody has compiled it, `player.py` and `inside.py` do the same. The tests run both.
 */
#define _GNU_SOURCE
#include "process1.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FDS = 16, OUT_OF_THE_WAY = 32, LARGEST_PACKET = 192 * 1024 };

/* ---- what a job is: see protocol.py --------------------------------------------------------- */

struct job {
    uint32_t words, variables; /* so many strings follow, of either */
    int64_t open_files, address_space, cpu_seconds; /* limits; -1: none */
    int64_t terminal; /* whether the three descriptors are one */
};

/* ---- descriptors ---------------------------------------------------------------------------- */

/* Give descriptors the numbers that a plan knows them by: `first` and those after it. */
void place(const int *fds, int count, int first)
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
_Noreturn void live(pid_t program)
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
static int start(const struct job *job, char **argv, char **envp, pid_t *program)
{
    posix_spawnattr_t how;
    posix_spawn_file_actions_t first;
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
    posix_spawn_file_actions_init(&first);
    if (job->terminal) /* whoever opens one as the first of a session has control of it */
        posix_spawn_file_actions_addopen(&first, 0, "/dev/stdout", O_RDWR, 0);
    return posix_spawn(program, argv[0], &first, &how, argv, envp);
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
        error = start(job, words, variables, &program);
    if (error) {
        say("{\"op\":\"report\",\"start_errno\":%d}", error);
        _exit(1);
    }
    live(program);
}

/* ---- as a program: process 1 of a cold box -------------------------------------------------- */

/* What lies in a file without a name, of any size: it is in memory, so it is read at once. */
static char *contents(int fd)
{
    struct stat status;
    if (fstat(fd, &status) < 0)
        fail("plan", strerror(errno));
    char *text = malloc((size_t)status.st_size);
    if (text == NULL || pread(fd, text, (size_t)status.st_size, 0) != status.st_size)
        fail("plan", strerror(errno));
    return text;
}

int main(void)
{
    static _Alignas(8) char packet[LARGEST_PACKET];
    int fds[MOST_FDS], count;
    if (fcntl(CHANNEL, F_SETFD, FD_CLOEXEC) < 0) /* we inherited it, the program must not */
        return 1;
    if (receive(packet, sizeof packet, fds, &count) <= 0)
        return 0;
    if (count < 1)
        fail("plan", "there is none");
    char *plan = contents(fds[0]);
    place(fds + 1, count - 1, CHANNEL + 1);
    play(plan);
    say("{\"op\":\"report\",\"ready\":true}");
    run_job(packet);
}
