// 51. Calls that are allowed, with arguments that must not be.
// ends: exit 0
// says: held
// ends in containers: exit 0 | exit 1
// may say in containers: keep capabilities: done
// may say on gvisor: limits of process 1: done
// may say on gvisor: new limits for process 1: done
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static int got_through;

static void refused(const char *what, long result, int reason) {
    if (result < 0 && errno == reason) return;
    printf("%s: %s\n", what, result < 0 ? strerror(errno) : "done");
    got_through = 1;
}

static void try_privileges(void) {
    refused("forget no_new_privs", prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0), EINVAL);
    refused("keep capabilities", prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0), EPERM);
    refused("secure bits", prctl(PR_SET_SECUREBITS, 0, 0, 0, 0), EINVAL);
    refused("ambient", prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_ADMIN, 0, 0), EPERM);
    refused("bounding set", prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0), EINVAL);
    refused("another program's name", prctl(PR_SET_MM, PR_SET_MM_EXE_FILE, 0, 0, 0), EPERM);
    refused("another stack", prctl(PR_SET_MM, PR_SET_MM_START_STACK, 4096, 0, 0), EPERM);
    refused("a helper of the kernel's", prctl(57 /* PR_SET_IO_FLUSHER */, 1, 0, 0, 0), EINVAL);
}

static void try_memory(void) {
    void *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    page = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    refused("the page at zero", page == MAP_FAILED ? -1 : 0, EPERM);
    refused("another personality", personality(ADDR_COMPAT_LAYOUT), EPERM);
    refused("its zero page", personality(MMAP_PAGE_ZERO), EPERM);
    refused("its data as code", personality(READ_IMPLIES_EXEC), EPERM);
}

static void try_limits(void) {
    struct rlimit more = {RLIM_INFINITY, RLIM_INFINITY};
    refused("larger files", setrlimit(RLIMIT_FSIZE, &more), EPERM);
    refused("more descriptors", setrlimit(RLIMIT_NOFILE, &more), EPERM);
    refused("a core dump", setrlimit(RLIMIT_CORE, &more), EPERM);
    refused("locked memory", setrlimit(RLIMIT_MEMLOCK, &more), EPERM);
    refused("real-time priority", setrlimit(RLIMIT_RTPRIO, &more), EPERM);
    refused("limits of process 1", prlimit(1, RLIMIT_NOFILE, 0, &more), EPERM);
    struct rlimit none = {0, 0};
    refused("new limits for process 1", prlimit(1, RLIMIT_NOFILE, &none, 0), EPERM);
}

static void try_watching(void) {
    int mine = open("/tmp/mine", O_CREAT | O_RDWR, 0600);
    int shared = open("/usr", O_RDONLY | O_DIRECTORY);
    refused("a lease", fcntl(mine, F_SETLEASE, F_WRLCK), EPERM);
    refused("a lease, with high bits", syscall(SYS_fcntl, mine, F_SETLEASE | 1L << 32, 1), EPERM);
    refused("notice of changes", fcntl(shared, F_NOTIFY, DN_ACCESS), EPERM);
    refused("capabilities of a file", syscall(SYS_fsetxattr, mine, "security.capability",
            "\1\0\0\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20, 0), EPERM);
    refused("a trusted attribute", syscall(SYS_fsetxattr, mine, "trusted.overlay.opaque", "y", 1, 0),
            EPERM);
}

int main(void) {
    try_privileges();
    try_memory();
    try_limits();
    try_watching();
    if (!got_through) puts("held");
    return got_through;
}
