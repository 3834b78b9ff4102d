// Uses three times the cpu time it may, and is gone before anybody looks.
// limits: cpu_ms=20
// ends: cpu_time
#include <time.h>

int main(void) {
    while (clock() < CLOCKS_PER_SEC * 60 / 1000)
        ;
}
