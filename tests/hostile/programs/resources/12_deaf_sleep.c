// Sleeps with every signal blocked.
// limits: wall_ms=1000
// ends: wall_time
#include <signal.h>

int main(void) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, 0);
    for (;;) sigsuspend(&all);
}
