// Writes behind the end of the largest file there may be.
// limits: disk_mb=16
// ends: signal 25
#include <fcntl.h>
#include <unistd.h>

int main(void) {
    int file = open("large", O_WRONLY | O_CREAT, 0600);
    pwrite(file, "x", 1, 16 << 20);
}
