// Takes memory with malloc and touches every page of it.
// limits: memory_mb=64
// ends: memory
#include <stdlib.h>
#include <string.h>

int main(void) {
    for (;;) {
        char *piece = malloc(1 << 20);
        if (piece) memset(piece, 1, 1 << 20);
    }
}
