#define _GNU_SOURCE
#include "CLinuxSandbox.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/// What no packet of a sandbox's own network is sent to. Its own loopback is in the routes of its own addresses, which are asked before.
static const struct { const char *address; int family; unsigned char bits; } forbidden[] = {
    // A program may choose the interface (SO_BINDTODEVICE, IP_PKTINFO), and slirp4netns connects to what a packet says.
    {"127.0.0.0", AF_INET, 8},
    {"::1", AF_INET6, 128},
    // What a cloud tells its machine, with credentials: link-local addresses (all of them: no build needs a neighbour), Alibaba's, Azure's,
    // and those of version 6 of Amazon's and Google's.
    {"169.254.0.0", AF_INET, 16},
    {"100.100.100.200", AF_INET, 32},
    {"168.63.129.16", AF_INET, 32},
    {"fd00:ec2::", AF_INET6, 32},
    {"fd20:ce::", AF_INET6, 32},
};

struct rule {
    struct nlmsghdr message;
    struct fib_rule_hdr header;
    unsigned char attributes[64];
};

static void add(struct rule *rule, unsigned short type, const void *bytes, size_t size) {
    struct rtattr *attribute = (struct rtattr *)((char *)rule + rule->message.nlmsg_len);
    attribute->rta_type = type;
    attribute->rta_len = (unsigned short)RTA_LENGTH(size);
    memcpy(RTA_DATA(attribute), bytes, size);
    rule->message.nlmsg_len += (unsigned int)RTA_ALIGN(attribute->rta_len);
}

/// rtnetlink(7), RTM_NEWRULE. - Returns: 0, or the error's number.
static int forbid(int netlink, size_t index) {
    struct rule rule = {.message = {.nlmsg_len = NLMSG_LENGTH(sizeof rule.header), .nlmsg_type = RTM_NEWRULE}};
    rule.message.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
    rule.header.family = (unsigned char)forbidden[index].family;
    rule.header.dst_len = forbidden[index].bits;
    rule.header.action = FR_ACT_PROHIBIT;
    unsigned char address[16];
    if (inet_pton(forbidden[index].family, forbidden[index].address, address) != 1) return EINVAL;
    add(&rule, FRA_DST, address, forbidden[index].family == AF_INET ? 4 : 16);
    // After the table of own addresses, 0, before all others, 32766 and 32767.
    unsigned int priority = 1;
    add(&rule, FRA_PRIORITY, &priority, sizeof priority);
    if (send(netlink, &rule, rule.message.nlmsg_len, 0) < 0) return errno;
    struct { struct nlmsghdr message; struct nlmsgerr error; unsigned char rest[256]; } answer;
    // The kernel answered before it returned from send(2).
    ssize_t count = recv(netlink, &answer, sizeof answer, MSG_DONTWAIT);
    if (count < 0) return errno;
    if (count < (ssize_t)NLMSG_LENGTH(sizeof answer.error) || answer.message.nlmsg_type != NLMSG_ERROR) return EPROTO;
    return -answer.error.error;
}

static int forbid_all(int owner, int network) {
    if (setns(owner, CLONE_NEWUSER) != 0 || setns(network, CLONE_NEWNET) != 0) return errno;
    int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (netlink < 0) return errno;
    // A kernel without version 6 has no rules of it either, and no way.
    int other = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int has_six = other >= 0 || errno != EAFNOSUPPORT;
    for (size_t index = 0; index < sizeof forbidden / sizeof *forbidden; index++) {
        int error = forbidden[index].family == AF_INET || has_six ? forbid(netlink, index) : 0;
        if (error != 0) return error;
    }
    return 0;
}

int clinux_forbid_destinations(int owner, int network) {
    pid_t parent = getpid();
    pid_t child = fork();
    if (child < 0) return errno;
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        _exit(getppid() == parent ? forbid_all(owner, network) : ESRCH);
    }
    int status;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) return errno;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}
