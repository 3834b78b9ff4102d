/* Plays a plan: the system calls that set up a box, as `plan.py` has written them down.
 *
 * `player.py` does the same in Python. The first step that fails ends the process; the spawner is
 * told which one it was.
 */
#define _GNU_SOURCE
#include "process1.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_ARGS = 6, REGISTERS = 4, LARGEST_FILE = 32 * 1024, LONGEST_REPORT = 1024 };

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

/* ---- reports: JSON, as everything that the spawner is told ---------------------------------- */

void say(const char *format, ...)
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

_Noreturn void fail(const char *name, const char *why)
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

void play(char *base)
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
