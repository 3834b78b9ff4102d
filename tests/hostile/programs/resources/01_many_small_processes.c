// Forty processes with 2 MB each. None of them is large.
// limits: memory_mb=48
// ends: memory
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    for (int child = 0; child < 40; child++) {
        if (fork() == 0) {
            memset(malloc(2 << 20), 1, 2 << 20);
            pause();
        }
    }
    pause();
}
