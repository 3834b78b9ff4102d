// A stack that may be larger than the memory limit counts as memory.
// limits: memory_mb=32 stack_mb=512
// ends: memory
#include <string.h>

int deeper(int depth) {
    volatile char frame[4096];
    memset((void *)frame, depth, sizeof frame);
    return deeper(depth + 1) + frame[depth % 4096];
}

int main(void) { return deeper(0); }
