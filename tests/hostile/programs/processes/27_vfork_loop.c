// 27. Starts programs all the time, and so at the moment of its deadline.
// limits: wall_ms=500
// ends: wall_time
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
    if (argc > 2) return 0;
    char *words[] = {argv[0], argv[1], "leave", 0};
    for (;;) {
        if (vfork() == 0) {
            execv("/proc/self/exe", words);
            _exit(0);
        }
        wait(0);
    }
}
