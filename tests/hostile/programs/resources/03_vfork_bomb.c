// Children that are started with vfork and stay.
// limits: processes=64 wall_ms=20000
// ends: processes
#include <unistd.h>

int main(int argc, char **argv) {
    if (argc > 2) return pause();
    char *words[] = {argv[0], argv[1], "stay", 0};
    for (;;)
        if (vfork() == 0) {
            execv("/proc/self/exe", words);
            _exit(0);
        }
}
