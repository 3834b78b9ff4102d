// Two hundred orphans, one after the other: process 1 has to bury them all.
// limits: processes=64
// ends: exit 0
// says: buried
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    for (int i = 0; i < 200; i++) {
        if (fork() == 0) {
            if (fork() == 0) _exit(0);
            _exit(0);
        }
        wait(0);
    }
    puts("buried");
}
