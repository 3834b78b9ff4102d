// 53. Changes what is mounted where, with calls old and new, and joins the namespaces of others.
// ends: exit 0
// says: held
// may say on gvisor: /proc/1/ns/* can be opened
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int got_through;

static void refused(const char *what, long result) {
    if (result < 0 && errno == EPERM) return;
    printf("%s: %s\n", what, result < 0 ? strerror(errno) : "done");
    got_through = 1;
}

int main(void) {
    mkdir("here", 0755);
    refused("bind", mount("/usr", "here", 0, MS_BIND, 0));
    refused("tmpfs", mount("none", "here", "tmpfs", 0, 0));
    refused("proc", mount("none", "here", "proc", 0, 0));
    refused("overlay", mount("none", "here", "overlay", 0, "lowerdir=/usr"));
    refused("root writable", mount(0, "/", 0, MS_REMOUNT | MS_BIND, 0));
    refused("/usr writable", mount(0, "/usr", 0, MS_REMOUNT | MS_BIND | MS_NOSUID, 0));
    refused("workspace with setuid", mount(0, "/workspace", 0, MS_REMOUNT | MS_BIND, 0));
    refused("root shared", mount(0, "/", 0, MS_SHARED | MS_REC, 0));
    refused("uncover /proc", umount2("/proc", MNT_DETACH));
    refused("uncover /tmp", umount2("/tmp", MNT_DETACH));
    refused("uncover the root", umount2("/", MNT_DETACH));
    refused("pivot_root", syscall(SYS_pivot_root, ".", "."));
    refused("fsopen", syscall(SYS_fsopen, "tmpfs", 0));
    refused("fspick", syscall(SYS_fspick, AT_FDCWD, "/", 0));
    refused("open_tree", syscall(SYS_open_tree, AT_FDCWD, "/usr", 1));
    refused("open_tree of a path", syscall(SYS_open_tree, AT_FDCWD, "/usr", 0));
    refused("move_mount", syscall(SYS_move_mount, AT_FDCWD, "/tmp", AT_FDCWD, "here", 0));
    unsigned long long writable[4] = {0, 1, 0, 0};
    refused("mount_setattr", syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, writable, 32));

    const char *namespaces[] = {"mnt", "net", "pid", "user", "ipc", "uts", "cgroup", "time"};
    for (int i = 0; i < 8; i++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/self/ns/%s", namespaces[i]);
        refused(path, setns(open(path, O_RDONLY), 0));
        snprintf(path, sizeof path, "/proc/1/ns/%s", namespaces[i]);
        if (open(path, O_RDONLY) >= 0) {
            printf("%s can be opened\n", path);
            got_through = 1;
        }
    }
    refused("namespaces of process 1", setns(syscall(SYS_pidfd_open, 1, 0), CLONE_NEWNS));
    if (!got_through) puts("held");
    return got_through;
}
