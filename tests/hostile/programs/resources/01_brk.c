// Moves the end of its heap by hand.
// limits: memory_mb=64
// ends: memory
#include <string.h>
#include <unistd.h>

int main(void) {
    for (;;) {
        void *piece = sbrk(1 << 20);
        if (piece != (void *)-1) memset(piece, 1, 1 << 20);
    }
}
