// Fifty threads wait for each other and wake each other up, for ever.
// limits: wall_ms=1000 processes=64
// ends: wall_time
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

int main() {
    std::mutex mutex;
    std::condition_variable bell;
    std::vector<std::thread> threads;
    for (int i = 0; i < 50; i++)
        threads.emplace_back([&] {
            for (;;) {
                std::unique_lock lock(mutex);
                bell.notify_all();
                bell.wait(lock);
            }
        });
    for (;;) bell.notify_one();
}
