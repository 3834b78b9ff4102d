// 59. Writes itself a new identity: a map in which it is root.
// ends: exit 0
// says: held
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int got_through;

static void refused(const char *path, const char *text) {
    int fd = open(path, O_WRONLY);
    if (fd < 0 && (errno == EACCES || errno == ENOENT)) return;
    long result = fd < 0 ? -1 : write(fd, text, strlen(text));
    if (result < 0 && (errno == EPERM || errno == EACCES)) return;
    printf("%s: %s\n", path, result < 0 ? strerror(errno) : "written");
    got_through = 1;
}

int main(void) {
    const char *maps[] = {"0 0 1", "0 0 4294967295", "0 1000 1", "1000 0 1", "0 1 1\n1 2 1"};
    for (int i = 0; i < 5; i++) {
        refused("/proc/self/uid_map", maps[i]);
        refused("/proc/self/gid_map", maps[i]);
        refused("/proc/1/uid_map", maps[i]);
    }
    refused("/proc/self/setgroups", "allow");
    if (getuid() == 0 || geteuid() == 0) puts("is root"), got_through = 1;
    if (!got_through) puts("held");
    return got_through;
}
