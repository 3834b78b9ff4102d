// 23. Ignores SIGTERM and all others that can be ignored.
// limits: wall_ms=1000
// ends: wall_time
#include <signal.h>
#include <unistd.h>

int main(void) {
    for (int number = 1; number < NSIG; number++) signal(number, SIG_IGN);
    for (;;) pause();
}
