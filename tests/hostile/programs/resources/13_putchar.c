// Floods stdout byte by byte.
// limits: flood_bytes=4000000 wall_ms=30000
// ends: output
#include <stdio.h>

int main(void) {
    for (;;) putchar('x');
}
