// Locks what it has locked.
// limits: wall_ms=1000
// ends: wall_time
#include <mutex>

int main() {
    std::mutex mutex;
    mutex.lock();
    mutex.lock();
}
