// A thousand pieces of 64 KB in one call.
// limits: flood_bytes=4000000 wall_ms=30000
// ends: output
#include <sys/uio.h>

int main(void) {
    static char block[1 << 16];
    static struct iovec pieces[1000];
    for (int i = 0; i < 1000; i++) pieces[i] = (struct iovec){block, sizeof block};
    for (;;) writev(1, pieces, 1000);
}
