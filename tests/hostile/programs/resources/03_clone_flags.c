// Children that share everything with their parent, and are siblings of it.
// limits: processes=64 wall_ms=20000
// ends: processes
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

static int stay(void *unused) { return pause(); }

int main(void) {
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_PARENT;
    for (;;) {
        char *stack = malloc(16 << 10);
        if (clone(stay, stack + (16 << 10), flags, 0) < 0) free(stack);
    }
}
