// 29. Sends every signal to process 1 of the box, and tries to trace it.
// ends: exit 0
// says: process 1 is still there
// says: PTRACE_ATTACH: Operation not permitted
// says: PTRACE_SEIZE: Operation not permitted
// ends on gvisor: signal 9
// may say on gvisor:
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

int main(void) {
    for (int number = 1; number < NSIG; number++) kill(1, number);
    usleep(100000);
    puts(kill(1, 0) == 0 ? "process 1 is still there" : strerror(errno));
    ptrace(PTRACE_ATTACH, 1, 0, 0);
    printf("PTRACE_ATTACH: %s\n", strerror(errno));
    ptrace(PTRACE_SEIZE, 1, 0, 0);
    printf("PTRACE_SEIZE: %s\n", strerror(errno));
}
