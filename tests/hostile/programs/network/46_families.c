// 46. Opens sockets of every family there is. Most of them only ever led to holes in the kernel.
// The kernel reads 32 bits of each argument, so whoever checks them must not look at 64.
// ends: exit 0
// says: held
// ends in containers: exit 0 | exit 1
// may say in containers: inet* 2, *, *: Operation not permitted
// may say in containers: inet* 10, *, *: Operation not permitted
// may say on gvisor: family 16, *: open
// may say on gvisor: netlink 16, *: open
// may say on gvisor: pair of family *
// may say on gvisor: inet 2, 2, 1: open
// may say on gvisor: inet6 10, 2, 58: open
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int got_through;

static void refused(const char *what, long family, long kind, long protocol, int reason) {
    long high = 1L << 32;
    for (int i = 0; i < 4; i++) {
        long junk = (i & 1 ? high : 0) | (i & 2 ? high << 7 : 0);
        long fd = syscall(SYS_socket, family | junk, kind | junk, protocol | junk);
        if (fd < 0 && errno == reason) continue;
        printf("%s %ld, %ld, %ld: %s\n", what, family, kind, protocol,
               fd < 0 ? strerror(errno) : "open");
        got_through = 1;
    }
}

int main(void) {
    for (int family = 0; family < 64; family++) {
        if (family == AF_UNIX || family == AF_INET || family == AF_INET6) continue;
        for (int kind = SOCK_STREAM; kind <= SOCK_PACKET; kind++)
            refused("family", family, kind, 0, family == AF_NETLINK ? EOPNOTSUPP : EAFNOSUPPORT);
        int pair[2];
        if (socketpair(family, SOCK_STREAM, 0, pair) == 0 || errno != EAFNOSUPPORT) {
            printf("pair of family %d\n", family);
            got_through = 1;
        }
    }
    for (int protocol = 0; protocol < 32; protocol++)
        refused("netlink", AF_NETLINK, SOCK_RAW, protocol, EOPNOTSUPP);
    int protocols[] = {1, 2, 33, 47, 50, 58, 115, 132, 136, 255, 262};
    for (unsigned i = 0; i < sizeof protocols / sizeof *protocols; i++)
        for (int kind = SOCK_STREAM; kind <= SOCK_RAW; kind++) {
            refused("inet", AF_INET, kind, protocols[i], EAFNOSUPPORT);
            refused("inet6", AF_INET6, kind, protocols[i], EAFNOSUPPORT);
        }
    refused("raw", AF_INET, SOCK_RAW, IPPROTO_TCP, EPERM);
    refused("raw", AF_INET6, SOCK_RAW, IPPROTO_UDP, EPERM);
    if (!got_through) puts("held");
    return got_through;
}
