// Fills a file through a mapping, without ever calling write.
// limits: memory_mb=32 disk_mb=128
// ends: memory
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(void) {
    int file = open("large", O_RDWR | O_CREAT, 0600);
    ftruncate(file, 100 << 20);
    memset(mmap(0, 100 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), 1, 100 << 20);
    pause();
}
