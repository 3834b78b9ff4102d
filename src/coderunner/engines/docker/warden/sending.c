/* What is sent once the program is dead: the files that it has left, regular ones and directories. */

#define _GNU_SOURCE
#include "warden.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEEPEST 100

static char name[4096];
static uint64_t left; /* bytes that may be sent: sparse files, and one by many names, are cheap */

static char waiting[1 << 16];
static size_t waiting_size;

static void flush(void) {
    if (waiting_size) tell(1, FILES, NULL, 0, waiting, waiting_size);
    waiting_size = 0;
}

static void say(const void *words, size_t size) {
    const char *rest = words;
    while (size) {
        size_t room = sizeof waiting - waiting_size, part = size < room ? size : room;
        memcpy(waiting + waiting_size, rest, part);
        waiting_size += part;
        rest += part;
        size -= part;
        if (waiting_size == sizeof waiting) flush();
    }
}

static void send_head(size_t length, mode_t mode, uint64_t size) {
    struct {
        uint32_t name, mode;
        uint64_t size;
    } head = {(uint32_t)length, mode, size};
    say(&head, sizeof head);
    say(name, length);
}

static void send_content(int fd, uint64_t size) {
    static char buffer[1 << 16];
    while (size) {
        size_t part = size < sizeof buffer ? size : sizeof buffer;
        ssize_t got = read(fd, buffer, part);
        if (got <= 0) { /* it cannot shrink: nobody is left. But the size was promised */
            memset(buffer, 0, part);
            got = (ssize_t)part;
        }
        say(buffer, (size_t)got);
        size -= (uint64_t)got;
    }
}

static int accessible(int parent, const char *entry, int flags, mode_t needed) {
    int fd = openat(parent, entry, flags | O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 || errno != EACCES || fchmodat(parent, entry, needed, 0)) return fd;
    return openat(parent, entry, flags | O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

static void send_directory(int fd, size_t length, int depth);

static void send_entry(int parent, const char *entry, size_t length, int depth) {
    struct stat status;
    size_t added = strlen(entry);
    if (fstatat(parent, entry, &status, AT_SYMLINK_NOFOLLOW)) return;
    if (length + added + 1 >= sizeof name) return;
    int is_directory = S_ISDIR(status.st_mode);
    if (!is_directory && (!S_ISREG(status.st_mode) || (uint64_t)status.st_size > left)) return;
    int fd = accessible(parent, entry, is_directory ? O_DIRECTORY : 0, is_directory ? 0700 : 0600);
    if (fd < 0) return;
    memcpy(name + length, entry, added);
    if (is_directory) {
        send_head(length + added, ENTRY_DIRECTORY | 0755, 0);
        name[length + added] = '/';
        send_directory(fd, length + added + 1, depth + 1);
        return;
    }
    send_head(length + added, ENTRY_FILE | (status.st_mode & 0777), (uint64_t)status.st_size);
    left -= (uint64_t)status.st_size;
    send_content(fd, (uint64_t)status.st_size);
    close(fd);
}

static void send_directory(int fd, size_t length, int depth) {
    DIR *directory = depth < DEEPEST ? fdopendir(fd) : NULL;
    if (!directory) {
        close(fd);
        return;
    }
    for (struct dirent *one; (one = readdir(directory));)
        if (strcmp(one->d_name, ".") && strcmp(one->d_name, ".."))
            send_entry(dirfd(directory), one->d_name, length, depth);
    closedir(directory);
}

/* Ends with a name of no length. */
void send_workspace(const struct order *order) {
    int fd = open(order->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && !chmod(order->directory, 0700))
        fd = open(order->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    left = order->file_bytes + order->brought_kb * 1024;
    if (fd >= 0) send_directory(fd, 0, 0);
    send_head(0, 0, 0);
    flush();
}
