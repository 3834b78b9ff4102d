// The main thread is a zombie, the others burn cpu time where /proc shows it least.
// limits: cpu_ms=300 wall_ms=30000
// ends: cpu_time
#include <pthread.h>
#include <thread>

int main() {
    std::thread([] {
        for (;;) asm volatile("");
    }).detach();
    pthread_exit(nullptr);
}
