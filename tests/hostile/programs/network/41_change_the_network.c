// 41. Has a way out, if it can make one: addresses, routes, interfaces, firewall rules.
// ends: exit 0
// says: held
// may say on gvisor: mark: done
// may say on gvisor: transparent: done
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static int got_through;

static void refused(const char *what, long result, int reason, int or_reason) {
    if (result < 0 && (errno == reason || errno == or_reason)) return;
    printf("%s: %s\n", what, result < 0 ? strerror(errno) : "done");
    got_through = 1;
}

static long ask_kernel(int type, void *body, int length) {
    struct { struct nlmsghdr head; char body[256]; } message = {0};
    int line = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
    if (line < 0) return -1;
    message.head.nlmsg_len = NLMSG_LENGTH(length);
    message.head.nlmsg_type = type;
    message.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_ACK;
    memcpy(message.body, body, length);
    send(line, &message, message.head.nlmsg_len, 0);
    struct { struct nlmsghdr head; struct nlmsgerr error; char rest[512]; } answer = {0};
    recv(line, &answer, sizeof answer, 0);
    close(line);
    errno = -answer.error.error;
    return answer.error.error ? -1 : 0;
}

int main(void) {
    struct ifinfomsg link = {.ifi_family = AF_UNSPEC};
    struct ifaddrmsg address = {.ifa_family = AF_INET, .ifa_prefixlen = 8, .ifa_index = 1};
    struct rtmsg route = {.rtm_family = AF_INET, .rtm_table = RT_TABLE_MAIN,
                          .rtm_protocol = RTPROT_STATIC, .rtm_type = RTN_UNICAST};
    refused("new interface", ask_kernel(RTM_NEWLINK, &link, sizeof link), EPERM, EOPNOTSUPP);
    refused("new address", ask_kernel(RTM_NEWADDR, &address, sizeof address), EPERM, EOPNOTSUPP);
    refused("new route", ask_kernel(RTM_NEWROUTE, &route, sizeof route), EPERM, EOPNOTSUPP);

    int line = socket(AF_INET, SOCK_STREAM, 0);
    struct ifreq request = {.ifr_name = "lo", .ifr_flags = 0};
    refused("interface down", ioctl(line, SIOCSIFFLAGS, &request), EPERM, ENOTTY);
    refused("rename interface", ioctl(line, SIOCSIFNAME, &request), EPERM, ENOTTY);
    refused("old route", ioctl(line, SIOCADDRT, &request), EPERM, ENOTTY);

    int on = 1;
    char rules[256] = {0};
    refused("iptables", setsockopt(line, IPPROTO_IP, 64, rules, sizeof rules), EPERM, ENOPROTOOPT);
    refused("mark", setsockopt(line, SOL_SOCKET, SO_MARK, &on, sizeof on), EPERM, EPERM);
    refused("large buffer", setsockopt(line, SOL_SOCKET, SO_RCVBUFFORCE, &on, sizeof on), EPERM,
            EPERM);
    refused("transparent", setsockopt(line, IPPROTO_IP, 19, &on, sizeof on), EPERM, EPERM);
    if (!got_through) puts("held");
    return got_through;
}
