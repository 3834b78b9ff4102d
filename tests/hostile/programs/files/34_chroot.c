// 34. The classic way out of a chroot, and climbing above the root by every other name.
// ends: exit 0
// says: held
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int got_through;

static void root_is_the_end(const char *road) {
    struct stat root, there;
    if (stat("/", &root) || stat(road, &there)) {
        printf("%s: %s\n", road, strerror(errno));
        got_through = 1;
    } else if (root.st_ino != there.st_ino || root.st_dev != there.st_dev) {
        printf("%s leads out\n", road);
        got_through = 1;
    }
}

int main(void) {
    int outside = open("/", O_RDONLY | O_DIRECTORY);
    mkdir("jail", 0755);
    if (chroot("jail") == 0 || errno != EPERM) {
        puts("chroot is not refused");
        got_through = 1;
    }
    fchdir(outside);
    for (int i = 0; i < 1000; i++)
        if (chdir("..")) return 2;
    root_is_the_end(".");
    root_is_the_end("/..");
    root_is_the_end("/proc/self/root/..");
    root_is_the_end("/proc/self/cwd/..");
    root_is_the_end("/workspace/../..");  // a mount's root is no door
    root_is_the_end("/tmp/../..");
    root_is_the_end("/dev/shm/../..");
    if (!got_through) puts("held");
    return got_through;
}
