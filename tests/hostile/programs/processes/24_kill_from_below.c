// The same from a child: only the program dies.
// ends: signal 9
#include <signal.h>
#include <unistd.h>

int main(void) {
    if (fork() == 0) kill(-1, SIGKILL);
    for (;;) pause();
}
