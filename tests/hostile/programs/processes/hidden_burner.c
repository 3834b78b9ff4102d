// A child that cannot be dumped, whose /proc belongs to somebody else: its cpu time counts.
// limits: cpu_ms=300 wall_ms=30000
// ends: cpu_time
#include <sys/prctl.h>
#include <unistd.h>

int main(void) {
    if (fork() == 0) {
        prctl(PR_SET_DUMPABLE, 0);
        for (;;) __asm__ volatile("");
    }
    pause();
}
