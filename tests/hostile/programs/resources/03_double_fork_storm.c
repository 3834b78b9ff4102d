// Grandchildren without parents: each belongs to process 1 as soon as it is born.
// limits: processes=64 wall_ms=20000
// ends: processes
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    for (;;) {
        pid_t child = fork();
        if (child == 0) {
            setsid();
            if (fork() == 0) pause();
            _exit(0);
        }
        if (child > 0) waitpid(child, 0, 0);
    }
}
