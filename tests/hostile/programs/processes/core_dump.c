// Crashes with a core dump that it has asked for: nothing is written, nobody is called.
// ends: signal 11
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

int main(void) {
    struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_CORE, &all);
    prctl(PR_SET_DUMPABLE, 1);
    write(open("/proc/self/coredump_filter", O_WRONLY), "0x7f", 4);
    memset(malloc(8 << 20), 1, 8 << 20);
    *(volatile int *)0 = 1;
}
