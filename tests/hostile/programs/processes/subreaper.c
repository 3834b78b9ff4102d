// Takes the place of process 1 for its grandchildren, and exits without waiting for them.
// ends: exit 0
#include <sys/prctl.h>
#include <unistd.h>

int main(void) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (fork() == 0) {
        for (int i = 0; i < 10; i++)
            if (fork() == 0) {
                setsid();
                for (;;) pause();
            }
        _exit(0);
    }
    usleep(100000);
}
