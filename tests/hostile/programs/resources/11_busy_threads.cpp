// Four threads share the work: their cpu time is added up.
// limits: cpu_ms=400 wall_ms=30000
// ends: cpu_time
#include <thread>
#include <vector>

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([] {
            for (;;) asm volatile("");
        });
    threads.front().join();
}
