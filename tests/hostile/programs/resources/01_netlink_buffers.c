// 1. Asks the kernel for lists over hundreds of sockets and never reads the answers: what waits in a
// netlink socket is memory that no cgroup counts.
// ends: exit 0
// says: held
// says on gvisor: open
#include <errno.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <sys/socket.h>

int main(void) {
    int line = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
    puts(line < 0 && errno == EOPNOTSUPP ? "held" : "open");
    return 0;
}
