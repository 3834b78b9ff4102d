// 31. Tries every way there is to change a read-only directory.
// The reason counts: others' files cannot be changed anyway, but here it is the mount that refuses.
// ends: exit 0
// says: held
// ends in containers: exit 0 | exit 1
// may say in containers: * /dev: Permission denied
// may say in containers: * /dev: Operation not permitted
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static int got_through;

static void refused(const char *what, const char *where, long result, int reason) {
    if (result < 0 && errno == reason) return;
    printf("%s %s: %s\n", what, where, result < 0 ? strerror(errno) : "done");
    got_through = 1;
}

static const char *in(const char *directory, const char *name) {
    static char path[4][200];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[0], "%s/%s", directory, name);
    return path[next];
}

static void try_directory(const char *directory) {
    const char *new = in(directory, "hostile-new");
    refused("create in", directory, open(new, O_CREAT | O_WRONLY, 0644), EROFS);
    refused("unnamed file in", directory, open(directory, O_TMPFILE | O_RDWR, 0644), EROFS);
    refused("mkdir in", directory, mkdir(new, 0755), EROFS);
    refused("symlink in", directory, symlink("/tmp", new), EROFS);
    refused("fifo in", directory, mkfifo(new, 0644), EROFS);
    refused("chmod", directory, chmod(directory, 0777), EROFS);
    refused("chown", directory, chown(directory, getuid(), getgid()), EROFS);
    refused("utimes", directory, utimensat(AT_FDCWD, directory, 0, 0), EROFS);
    refused("xattr", directory, setxattr(directory, "user.hostile", "x", 1, 0), EROFS);
}

static void try_file(const char *path) {
    refused("open to truncate", path, open(path, O_WRONLY | O_TRUNC), EROFS);
    refused("unlink", path, unlink(path), EROFS);
    refused("chmod", path, chmod(path, 0777), EROFS);
    refused("utimes", path, utimensat(AT_FDCWD, path, 0, 0), EROFS);
    refused("xattr", path, setxattr(path, "user.hostile", "x", 1, 0), EROFS);
    refused("rename within", path, rename(path, in("/usr/bin", "hostile-new")), EROFS);
    refused("rename out", path, rename(path, "/tmp/hostile-new"), EXDEV);
    refused("rename over", path, rename("/tmp/mine", path), EXDEV);
    refused("exchange", path, renameat2(AT_FDCWD, "/tmp/mine", AT_FDCWD, path, 2), EXDEV);
    // A second name in the workspace would be collected as if it were the program's own.
    refused("link", path, link(path, "hostile-link"), EXDEV);
}

int main(void) {
    close(open("/tmp/mine", O_CREAT | O_WRONLY, 0644));
    const char *directories[] = {"/", "/usr", "/usr/bin", "/usr/lib", "/etc", "/dev", "/var"};
    for (unsigned i = 0; i < sizeof directories / sizeof *directories; i++)
        try_directory(directories[i]);
    try_file("/usr/bin/env");
    if (!got_through) puts("held");
    return got_through;
}
