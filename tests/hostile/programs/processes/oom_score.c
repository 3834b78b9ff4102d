// Asks the kernel to kill somebody else first: it may not, and has to go itself.
// limits: memory_mb=64
// ends: memory
// ends on gvisor: exit 1
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    int score = open("/proc/self/oom_score_adj", O_WRONLY);
    if (write(score, "-1000", 5) == 5) return 1;
    for (;;) memset(malloc(1 << 20), 1, 1 << 20);
}
