// Asks for zeroed memory and writes one byte to each page: that is enough.
// limits: memory_mb=64
// ends: memory
#include <stdlib.h>

int main(void) {
    for (;;) {
        volatile char *piece = calloc(1, 8 << 20);
        for (long at = 0; piece && at < 8 << 20; at += 4096) piece[at] = 1;
    }
}
