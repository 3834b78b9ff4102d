// Makes timers until there are no more.
// limits: wall_ms=20000
// ends: exit 0
// says: refused at some point
// ends on gvisor: exit 0 | wall_time
#include <signal.h>
#include <stdio.h>
#include <time.h>

int main(void) {
    struct sigevent nobody = {.sigev_notify = SIGEV_NONE};
    timer_t timer;
    for (long i = 0; i < 1000000; i++)
        if (timer_create(CLOCK_MONOTONIC, &nobody, &timer) < 0)
            return puts("refused at some point") < 0;
    puts("a million timers");
}
