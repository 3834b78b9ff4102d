// 21. A daemon: forked twice, in a session of its own, without streams. It is dead at return.
// ends: exit 0
// says: away
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    if (fork() == 0) {
        setsid();
        if (fork()) _exit(0);
        for (int fd = 0; fd < 3; fd++) close(fd);
        for (;;) pause();
    }
    wait(0);
    puts("away");
}
