// Fills System V message queues for ever. Without a cgroup they are refused.
// limits: memory_mb=32
// ends: memory
// ends at sampled: exit 0
// says at sampled: refused
// ends on gvisor: wall_time | exit 0
// may say on gvisor:
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/msg.h>

int main(void) {
    static struct { long kind; char text[8000]; } letter = {1};
    for (;;) {
        int queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
        if (queue < 0) return puts("refused") < 0;
        while (msgsnd(queue, &letter, sizeof letter.text, IPC_NOWAIT) == 0)
            ;
    }
}
