// 31. Opens read-only files again, through /proc, to get them writable this time.
// ends: exit 0
// says: held
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int got_through;

static void refused(const char *what, const char *path, long result, int reason, int or_reason) {
    if (result < 0 && (errno == reason || errno == or_reason)) return;
    printf("%s %s: %s\n", what, path, result < 0 ? strerror(errno) : "done");
    got_through = 1;
}

static void try_with(const char *path, int flags) {
    char again[64];
    int fd = open(path, flags);
    snprintf(again, sizeof again, "/proc/self/fd/%d", fd);
    refused("reopen", path, open(again, O_RDWR), EACCES, EROFS);
    refused("reopen to append", path, open(again, O_WRONLY | O_APPEND), EACCES, EROFS);
    refused("chmod by fd of", path, chmod(again, 0777), EROFS, EROFS);
    refused("truncate by fd of", path, truncate(again, 0), EACCES, EROFS);
    refused("link by fd of", path, linkat(AT_FDCWD, again, AT_FDCWD, "mine", AT_SYMLINK_FOLLOW),
            EXDEV, EXDEV);
    if (!(flags & O_PATH)) {
        refused("fchmod", path, fchmod(fd, 0777), EROFS, EROFS);
        refused("ftruncate", path, ftruncate(fd, 0), EINVAL, EINVAL);
        void *page = mmap(0, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        refused("writable map of", path, page == MAP_FAILED ? -1 : 0, EACCES, EACCES);
        page = mmap(0, 1, PROT_READ, MAP_SHARED, fd, 0);
        refused("mprotect of", path, mprotect(page, 1, PROT_READ | PROT_WRITE), EACCES, EACCES);
    }
    close(fd);
}

int main(void) {
    // The last ones belong to the box itself, where it is not the owner that stops anybody.
    const char *paths[] = {"/usr/bin/env", "/etc/ld.so.cache", "/etc/passwd", "/etc/hosts"};
    for (unsigned i = 0; i < sizeof paths / sizeof *paths; i++) {
        try_with(paths[i], O_RDONLY);
        try_with(paths[i], O_PATH);
    }
    if (!got_through) puts("held");
    return got_through;
}
