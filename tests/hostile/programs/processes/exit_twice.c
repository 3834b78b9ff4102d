// Exits while it exits.
// ends: exit 7
#include <stdlib.h>
#include <unistd.h>

static void again(void) { _exit(7); }

int main(void) {
    atexit(again);
    exit(3);
}
