// A chain: each process starts the next one and dies. There are never many, and no end of them.
// limits: wall_ms=1000
// ends: wall_time
#include <unistd.h>

int main(void) {
    if (fork()) pause();
    for (;;)
        if (fork()) _exit(0);
}
