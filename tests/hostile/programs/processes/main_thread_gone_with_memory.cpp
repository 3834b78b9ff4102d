// The main thread is a zombie, and a zombie has no memory in /proc. Another thread has plenty.
// limits: memory_mb=64
// ends: memory
// ends on gvisor: memory | wall_time
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <thread>
#include <unistd.h>

int main() {
    std::thread([] {
        for (int i = 0; i < 300; i++) std::memset(std::malloc(1 << 20), 1, 1 << 20);
        for (;;) pause();
    }).detach();
    pthread_exit(nullptr);
}
