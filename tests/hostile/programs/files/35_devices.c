// 35. Makes devices of its own, to reach the disk or the memory of the machine.
// ends: exit 0
// says: held
// may say on gvisor: a disk: done
// may say on gvisor: the memory: done
// may say on gvisor: a terminal: done
// may say on gvisor: even /dev/null: done
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static int got_through;

static void refused(const char *what, long result, int reason) {
    if (result < 0 && errno == reason) return;
    printf("%s: %s\n", what, result < 0 ? strerror(errno) : "done");
    got_through = 1;
}

int main(void) {
    const char *places[] = {"/workspace", "/tmp", "/dev/shm"};
    for (int i = 0; i < 3; i++) {
        chdir(places[i]);
        refused("a disk", mknod("disk", S_IFBLK | 0666, makedev(8, 0)), EPERM);
        refused("a virtual disk", mknod("disk", S_IFBLK | 0666, makedev(254, 0)), EPERM);
        refused("the memory", mknod("memory", S_IFCHR | 0666, makedev(1, 1)), EPERM);
        refused("what the disk holds", open("disk", O_RDONLY), ENOENT);
        refused("what the memory holds", open("memory", O_RDONLY), ENOENT);
        refused("a terminal", mknod("terminal", S_IFCHR | 0666, makedev(5, 0)), EPERM);
        refused("even /dev/null", mknod("null", S_IFCHR | 0666, makedev(1, 3)), EPERM);
        // The kernel lets anybody make this one. It stands for a deleted file, and opens nothing.
        mknod("whiteout", S_IFCHR | 0666, makedev(0, 0));
        refused("a whiteout", open("whiteout", O_RDWR), EACCES);
        if (mkfifo("fifo", 0600)) puts("not even a fifo can be made");  // control
    }
    refused("a new name for a device", link("/dev/null", "/tmp/null2"), EXDEV);
    if (!got_through) puts("held");
    return got_through;
}
