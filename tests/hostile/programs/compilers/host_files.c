// Asks the compiler which files of the host there are.
// ends: exit 0
// says: none
// not in containers: an image has an /etc of its own; `test_compilers.py` asks for the host's
#include <stdio.h>

int main(void) {
#if __has_include("/etc/shadow") || __has_include("/etc/machine-id")
    puts("secrets in /etc");
#elif __has_include("/root/.bashrc") || __has_include("/root/.profile")
    puts("somebody's home");
#elif __has_include("/proc/1/environ") || __has_include("/proc/1/cmdline")
    puts("process 1");
#elif __has_include("/sys/kernel/notes") || __has_include("/dev/mem")
    puts("the kernel");
#else
    puts("none");
#endif
}
