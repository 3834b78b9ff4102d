// 52. System calls of a 32-bit program: other numbers, which a filter for 64 bits would misread.
// ends: signal 31
// ends on gvisor: exit 0
#include <signal.h>
#include <stdio.h>

int main(void) {
    long result = 20;  // getpid() there, writev() here
#ifdef __x86_64__
    __asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
    printf("this is process %ld\n", result);
#else
    (void)result;
    raise(SIGSYS);  // no such door elsewhere
#endif
}
