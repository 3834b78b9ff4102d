// Ten processes that are one: they share the same 20 MB, and that is all they have.
// limits: memory_mb=64
// ends: exit 0
// says: 20 MB in all
// ends on gvisor: memory
// may say on gvisor:
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile char shared[20 << 20];

static int stay(void *unused) { return pause(); }

int main(void) {
    for (long at = 0; at < sizeof shared; at += 4096) shared[at] = 1;
    for (int i = 0; i < 10; i++)
        clone(stay, (char *)malloc(16 << 10) + (16 << 10), CLONE_VM | SIGCHLD, 0);
    usleep(300000);
    puts("20 MB in all");
}
