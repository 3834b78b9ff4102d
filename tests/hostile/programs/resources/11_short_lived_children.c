// Burns cpu time in children that live for a few milliseconds each.
// limits: cpu_ms=400 wall_ms=30000
// ends: cpu_time
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(void) {
    for (;;) {
        if (fork() == 0) {
            while (clock() < CLOCKS_PER_SEC / 200)
                ;
            _exit(0);
        }
        wait(0);
    }
}
