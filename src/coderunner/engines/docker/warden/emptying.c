/* Removes all that is in a directory, however deep it goes and whatever its modes are: nobody else
   lives, so that nothing moves meanwhile. */

#define _GNU_SOURCE
#include "warden.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INTO O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
#define LOOK_EVERY 1024 /* at the clock: so many names */

static int is_late(uint64_t deadline_us) {
    static unsigned names;
    return ++names % LOOK_EVERY == 0 && now_us() > deadline_us;
}

/* A directory that has something in it, opened so that this can be removed. */
static int enter(int parent, const char *name) {
    int inner = openat(parent, name, INTO);
    if (inner < 0 && errno == EACCES && !fchmodat(parent, name, 0700, 0))
        inner = openat(parent, name, INTO);
    if (inner >= 0) fchmod(inner, 0700);
    return inner;
}

/* A descriptor if it is a directory that has to be emptied first, else -1; `error` is 0 if it is
   gone. */
static int remove_one(int directory, const struct dirent64 *one, int *error) {
    if (one->d_type != DT_DIR && !unlinkat(directory, one->d_name, 0)) return -1;
    if (!unlinkat(directory, one->d_name, AT_REMOVEDIR)) return -1;
    int inner = enter(directory, one->d_name);
    *error = inner < 0 ? errno : 0;
    return inner;
}

/* Some names of one level. As above; `found` if there were any. */
static int remove_some(int directory, const char *names, ssize_t size, uint64_t deadline_us,
                       int *found, int *error) {
    int inner = -1;
    for (ssize_t place = 0; place < size && inner < 0 && !*error;) {
        const struct dirent64 *one = (const struct dirent64 *)(names + place);
        place += one->d_reclen;
        if (!strcmp(one->d_name, ".") || !strcmp(one->d_name, "..")) continue;
        *found = 1;
        if (is_late(deadline_us))
            *error = ETIME;
        else
            inner = remove_one(directory, one, error);
    }
    return inner;
}

/* One level, read again from its beginning until there is nothing more in it. As above. */
static int empty_level(int directory, uint64_t deadline_us, int *error) {
    static char names[32768] __attribute__((aligned(8)));
    int inner = -1, found = 1;
    while (found && inner < 0 && !*error) {
        ssize_t size = found = 0;
        if (lseek(directory, 0, SEEK_SET) < 0) *error = errno;
        while (inner < 0 && !*error && (size = getdents64(directory, names, sizeof names)) > 0)
            inner = remove_some(directory, names, size, deadline_us, &found, error);
        if (size < 0) *error = errno;
    }
    return inner;
}

/* With one descriptor for however many levels. */
int empty(int directory, uint64_t deadline_us) {
    int here = dup(directory), depth = 0, error = here < 0 ? errno : 0;
    while (!error) {
        int next = empty_level(here, deadline_us, &error);
        if (error || (next < 0 && !depth)) break;
        depth += next < 0 ? -1 : 1;
        if (next < 0 && (next = openat(here, "..", INTO)) < 0) error = errno;
        close(here);
        here = next;
    }
    if (here >= 0) close(here);
    return error;
}
