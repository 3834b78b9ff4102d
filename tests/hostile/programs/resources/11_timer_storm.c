// A timer that rings a hundred thousand times a second, and a handler that never ends anything.
// limits: wall_ms=1000
// ends: wall_time
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

static void nothing(int number) {}

int main(void) {
    struct itimerval often = {{0, 10}, {0, 10}};
    signal(SIGALRM, nothing);
    setitimer(ITIMER_REAL, &often, 0);
    for (;;) pause();
}
