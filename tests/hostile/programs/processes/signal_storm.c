// Queues a hundred thousand signals that it does not take.
// limits: wall_ms=5000
// ends: exit 0
// says: refused at some point
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, 0);
    for (long i = 0; i < 1000000; i++)
        if (sigqueue(getpid(), SIGRTMIN, (union sigval){0}) < 0)
            return puts("refused at some point") < 0;
    puts("a million signals");
}
