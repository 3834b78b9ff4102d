// 52. System calls with the mark of x32, which share a table with the ordinary ones.
// ends: signal 31
// ends on gvisor: exit 0
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void) {
#ifdef __x86_64__
    syscall(0x40000000 | SYS_getpid);
    puts("went through");
#else
    raise(SIGSYS);  // no such door elsewhere
#endif
}
