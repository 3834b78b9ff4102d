// Tries to lift its own cpu limit, and to catch what it is told.
// limits: cpu_ms=300 wall_ms=30000
// ends: cpu_time
#include <signal.h>
#include <sys/resource.h>

int main(void) {
    struct rlimit more = {RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_CPU, &more);
    signal(SIGXCPU, SIG_IGN);
    for (;;) __asm__ volatile("");
}
