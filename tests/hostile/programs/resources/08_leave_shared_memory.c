// 8. Leaves System V shared memory behind. `test_memory_returns.py` does that fifty times.
// ends: exit 0
// says: left
// says at sampled: refused
// says on gvisor: left
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>

int main(void) {
    int segment = shmget(IPC_PRIVATE, 16 << 20, IPC_CREAT | 0600);
    if (segment < 0) return puts("refused") < 0;
    memset(shmat(segment, 0, 0), 1, 16 << 20);
    puts("left");
}
