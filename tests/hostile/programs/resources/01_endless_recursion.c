// Endless recursion meets the end of the stack.
// limits: stack_mb=8
// ends: signal 11
#include <string.h>

int deeper(int depth) {
    volatile char frame[1024];
    memset((void *)frame, depth, sizeof frame);
    return deeper(depth + 1) + frame[depth % 1024];
}

int main(void) { return deeper(0); }
