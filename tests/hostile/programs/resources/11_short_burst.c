// Uses four times the cpu time it may, and is gone before anybody looks.
// limits: cpu_ms=10
// ends: cpu_time
#include <time.h>

int main(void) {
    while (clock() < CLOCKS_PER_SEC * 40 / 1000)
        ;
}
