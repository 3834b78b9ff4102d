// 4. Threads without end.
// limits: processes=64 wall_ms=20000
// ends: processes
#include <chrono>
#include <system_error>
#include <thread>

int main() {
    for (;;) try {
            std::thread([] { std::this_thread::sleep_for(std::chrono::hours(1)); }).detach();
        } catch (const std::system_error &) {
        }
}
