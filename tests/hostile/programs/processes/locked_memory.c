// Locks its memory, so that it could not be swapped out.
// ends: exit 0
// says: mlock: Cannot allocate memory
// says: mlockall: Cannot allocate memory
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int main(void) {
    mlock(malloc(1 << 20), 1 << 20);
    printf("mlock: %s\n", strerror(errno));
    mlockall(MCL_CURRENT | MCL_FUTURE);
    printf("mlockall: %s\n", strerror(errno));
}
