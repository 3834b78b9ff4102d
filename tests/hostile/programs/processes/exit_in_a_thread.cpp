// The main thread is gone long before the process is.
// ends: exit 5
#include <cstdlib>
#include <pthread.h>
#include <thread>
#include <unistd.h>

int main() {
    std::thread([] {
        usleep(200000);
        _exit(5);
    }).detach();
    pthread_exit(nullptr);
}
