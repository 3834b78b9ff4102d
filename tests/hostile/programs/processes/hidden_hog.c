// A child that cannot be dumped: its memory counts.
// limits: memory_mb=64
// ends: memory
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(void) {
    if (fork() == 0) {
        prctl(PR_SET_DUMPABLE, 0);
        for (;;) memset(malloc(1 << 20), 1, 1 << 20);
    }
    pause();
}
