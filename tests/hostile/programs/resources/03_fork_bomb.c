// Every process becomes two, as fast as it goes.
// limits: processes=64 wall_ms=20000
// ends: processes
#include <unistd.h>

int main(void) {
    for (;;) fork();
}
