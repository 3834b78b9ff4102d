// A child that cannot be dumped, has no name and survives its parent: it is dead at return.
// ends: exit 0
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(void) {
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, 0);
        prctl(PR_SET_DUMPABLE, 0);
        prctl(PR_SET_NAME, "");
        for (;;) pause();
    }
    usleep(100000);
}
