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

/* A directory that has something in it, opened so that this can be removed. Takes `parent`. */
static int enter(int parent, const char *name) {
    int inner = openat(parent, name, INTO);
    if (inner < 0 && errno == EACCES && !fchmodat(parent, name, 0700, 0))
        inner = openat(parent, name, INTO);
    if (inner >= 0) fchmod(inner, 0700);
    return inner;
}

/* One level. A descriptor if there is a directory that has to be emptied first, else -1; then
   `error` is 0 if nothing is left here. */
static int empty_level(int directory, uint64_t deadline_us, int *error) {
    int again = dup(directory), inner = -1;
    DIR *entries = again < 0 ? NULL : fdopendir(again);
    *error = entries ? 0 : errno;
    if (!entries) return -1;
    rewinddir(entries);
    for (struct dirent *one; inner < 0 && !*error && (one = readdir(entries));) {
        if (!strcmp(one->d_name, ".") || !strcmp(one->d_name, "..")) continue;
        if (is_late(deadline_us)) *error = ETIME;
        if (*error || !unlinkat(directory, one->d_name, 0)) continue;
        if (!unlinkat(directory, one->d_name, AT_REMOVEDIR)) continue;
        inner = enter(directory, one->d_name);
        if (inner < 0) *error = errno;
    }
    closedir(entries);
    return inner;
}

/* With one descriptor for however many levels. */
int empty(int directory, uint64_t deadline_us) {
    int here = dup(directory), depth = 0, error = here < 0 ? errno : 0;
    while (!error) {
        int next = empty_level(here, deadline_us, &error);
        if (error) break;
        if (next < 0 && !depth) break;
        depth += next < 0 ? -1 : 1;
        if (next < 0 && (next = openat(here, "..", INTO)) < 0) error = errno;
        close(here);
        here = next;
    }
    if (here >= 0) close(here);
    return error;
}
