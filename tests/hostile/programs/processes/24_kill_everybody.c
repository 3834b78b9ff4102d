// 24. Kills every process it can: that is its own children. (The caller itself is left out by
// the kernel.) Neither process 1 nor anybody else is there to be killed.
// ends: exit 0
// says: killed my child with signal 9
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    int status;
    if (fork() == 0) return pause();
    kill(-1, SIGKILL);
    wait(&status);
    printf("killed my child with signal %d\n", WTERMSIG(status));
}
