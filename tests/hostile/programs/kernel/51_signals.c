// 51. Sends signals to everybody it can name, and to process 1 in every way there is.
// ends: exit 0
// says: held
// ends on gvisor: signal 9 | wall_time
// may say on gvisor:
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int got_through;

static void stop_here(int number) { (void)number; }

// Process 1 of a box has no handlers. The kernel drops what its own children send to it.
static void annoy_process_1(int number) {
    siginfo_t info = {.si_signo = number, .si_code = SI_QUEUE};
    kill(1, number);
    syscall(SYS_tkill, 1, number);
    syscall(SYS_tgkill, 1, 1, number);
    syscall(SYS_rt_sigqueueinfo, 1, number, &info);
    syscall(SYS_rt_tgsigqueueinfo, 1, 1, number, &info);
    int pidfd = syscall(SYS_pidfd_open, 1, 0);
    if (pidfd < 0) return;
    syscall(SYS_pidfd_send_signal, pidfd, number, 0, 0);
    // Its descriptors are behind another wall.
    for (int fd = 0; fd < 16; fd++)
        if (syscall(SYS_pidfd_getfd, pidfd, fd, 0) >= 0 || errno != EPERM) {
            printf("got descriptor %d of process 1\n", fd);
            got_through = 1;
        }
    close(pidfd);
}

// The kernel sends this one for us, when there is something to read.
static void have_it_sent(int pid, int number) {
    int pair[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    fcntl(pair[0], F_SETOWN, pid);
    fcntl(pair[0], F_SETSIG, number);
    fcntl(pair[0], F_SETFL, O_ASYNC | O_NONBLOCK);
    write(pair[1], "x", 1);
    close(pair[0]);
    close(pair[1]);
}

int main(void) {
    for (int number = 1; number < 65; number++)
        if (number != SIGKILL && number != SIGSTOP) signal(number, stop_here);
    for (int number = 1; number < 65; number++) {
        annoy_process_1(number);
        have_it_sent(1, number == SIGKILL || number == SIGSTOP ? SIGTERM : number);
    }
    // Nobody else lives here: not one number may lead to a process of the host's.
    for (int pid = 2; pid < 70000; pid++)
        if (pid != getpid() && (kill(pid, 0) == 0 || errno != ESRCH)) {
            if (pid == getppid() || getpgid(pid) == getpgrp()) continue;
            printf("process %d can be signalled\n", pid);
            got_through = 1;
        }
    if (!got_through) puts("held");
    return got_through;
}
