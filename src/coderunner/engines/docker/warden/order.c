/* The order, as it comes on stdin: numbers, the token, words, and the files of the program.

   Whoever sends it is trusted, but lines break: a short one ends with EPIPE. */

#define _GNU_SOURCE
#include "warden.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_TEXT (64u << 20)

static uint64_t entries_read; /* bytes */

int read_fully(int fd, void *place, size_t size) {
    char *rest = place;
    while (size) {
        ssize_t got = read(fd, rest, size);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return got ? errno : EPIPE;
        rest += got;
        size -= (size_t)got;
    }
    return 0;
}

/* `count` words that end in NUL, of which `*text` is the first. */
static char **words(char **text, const char *end, uint64_t count) {
    char **found = calloc(count + 1, sizeof *found);
    if (!found) return NULL;
    for (uint64_t number = 0; number < count && *text < end; number++) {
        found[number] = *text;
        *text += strlen(*text) + 1;
    }
    return found;
}

int read_order(struct order *order) {
    int error = read_fully(0, order, offsetof(struct order, argv));
    if (error) return error;
    if (order->text_bytes > MOST_TEXT || order->argc + order->envc > order->text_bytes) return EPROTO;
    char *text = order->text = calloc(order->text_bytes + 1, 1), *end = text + order->text_bytes;
    if (!text) return ENOMEM;
    if ((error = read_fully(0, text, order->text_bytes))) return error;
    order->argv = words(&text, end, order->argc);
    order->env = words(&text, end, order->envc);
    order->directory = text;
    return order->argv && order->env ? 0 : ENOMEM;
}

void forget_order(struct order *order) {
    free(order->argv);
    free(order->env);
    free(order->text);
    memset(order, 0, sizeof *order);
}

static int read_part(void *place, size_t size) {
    entries_read += size;
    return read_fully(0, place, size);
}

static int copy_in(int fd, uint64_t size) {
    static char buffer[1 << 16];
    while (size) {
        size_t part = size < sizeof buffer ? size : sizeof buffer;
        int error = read_part(buffer, part);
        if (error) return error;
        for (size_t done = 0; done < part;) {
            ssize_t put = write(fd, buffer + done, part - done);
            if (put < 0) return errno;
            done += (size_t)put;
        }
        size -= part;
    }
    return 0;
}

static int make_file(const char *name, mode_t mode, uint64_t size) {
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return errno;
    int error = copy_in(fd, size);
    if (!error && fchmod(fd, mode & 0777)) error = errno;
    close(fd);
    return error;
}

static int make_link(const char *name, uint64_t size) {
    char target[4096] = "";
    if (size >= sizeof target) return ENAMETOOLONG;
    int error = read_part(target, size);
    return error ? error : symlink(target, name) ? errno : 0;
}

static int read_entry(void) {
    struct {
        uint32_t name, mode;
        uint64_t size;
    } head;
    char name[4096] = "";
    int error = read_part(&head, sizeof head);
    if (error) return error;
    if (head.name >= sizeof name) return ENAMETOOLONG;
    if ((error = read_part(name, head.name))) return error;
    switch (head.mode & 0170000) {
    case ENTRY_DIRECTORY:
        return mkdir(name, 0700) || chmod(name, head.mode & 0777) ? errno : 0;
    case ENTRY_LINK:
        return make_link(name, head.size);
    default:
        return make_file(name, head.mode, head.size);
    }
}

static int make_entries(const struct order *order) {
    if (mkdir(order->directory, 0755) && errno != EEXIST) return errno;
    if (chdir(order->directory)) return errno;
    for (uint64_t left = order->entries; left; left--) {
        int error = read_entry();
        if (error) return error;
    }
    return 0;
}

/* What is not wanted any more stands before what comes next. */
static int skip_entries(uint64_t left) {
    char buffer[4096];
    while (left) {
        size_t part = left < sizeof buffer ? left : sizeof buffer;
        int error = read_fully(0, buffer, part);
        if (error) return error;
        left -= part;
    }
    return 0;
}

int read_entries(const struct order *order) {
    entries_read = 0;
    int error = make_entries(order);
    int broken = skip_entries(order->entries_bytes - entries_read);
    return error ? error : broken;
}
