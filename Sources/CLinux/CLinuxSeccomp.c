#define _GNU_SOURCE
#include "CLinuxSandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#else
#error "no system call filter for this architecture"
#endif

// Numbers that the C library's headers may be too old to know. From 424 on they are the same everywhere.
enum {
    OPEN_TREE = 428, MOVE_MOUNT = 429, FSOPEN = 430, FSCONFIG = 431, FSMOUNT = 432, FSPICK = 433, CLONE3 = 435,
    PIDFD_GETFD = 438, PROCESS_MADVISE = 440, MOUNT_SETATTR = 442, QUOTACTL_FD = 443, OPEN_TREE_ATTR = 467,
    // file_setattr: the last of Linux 6.17. What is newer is not there, as for a program on an older kernel.
    LAST_KNOWN = 469,
    // F_SET_FILE_RW_HINT: the last command of fcntl(2) in Linux 6.17. Later ones are delegations, which are leases of directories.
    LAST_KNOWN_COMMAND = 1038,
    // The default capacity of a pipe (pipe(7)).
    USUAL_PIPE_BYTES = 65536,
};

/// Calls answered with EPERM: they make or enter namespaces and mounts, take descriptors of other processes, or change the machine.
///
/// ptrace(2), process_vm_readv(2) and process_vm_writev(2) are allowed: they reach only processes of the job's own process namespace. Its first
/// process is the supervisor's, and not dumpable. Since Linux 4.8 the kernel evaluates the filter after a tracer has changed a call, so tracing
/// leads to no forbidden call.
static const int forbidden[] = {
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_unshare, SYS_setns,
    OPEN_TREE, MOVE_MOUNT, FSOPEN, FSCONFIG, FSMOUNT, FSPICK, MOUNT_SETATTR, OPEN_TREE_ATTR,
    SYS_kcmp, PIDFD_GETFD, PROCESS_MADVISE,
    SYS_keyctl, SYS_add_key, SYS_request_key,
    SYS_bpf, SYS_userfaultfd, SYS_perf_event_open, SYS_open_by_handle_at, SYS_fanotify_init,
    SYS_kexec_load, SYS_kexec_file_load, SYS_init_module, SYS_finit_module, SYS_delete_module,
    SYS_reboot, SYS_swapon, SYS_swapoff, SYS_acct, SYS_syslog, SYS_quotactl, QUOTACTL_FD,
    SYS_settimeofday, SYS_clock_settime, SYS_sethostname, SYS_setdomainname, SYS_vhangup,
    SYS_lookup_dcookie, SYS_nfsservctl, SYS_move_pages, SYS_migrate_pages,
#if defined(__x86_64__)
    SYS_iopl, SYS_ioperm, SYS_modify_ldt, SYS_uselib, SYS_ustat, SYS_sysfs, SYS__sysctl, SYS_create_module,
    SYS_get_kernel_syms, SYS_query_module,
#endif
};

/// Answered with ENOSYS, as by a kernel without them: programs then do without.
static const int absent[] = { SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register, CLONE3 };

/// All that clone(2) can make a namespace with.
static const unsigned int namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER
    | CLONE_NEWPID | CLONE_NEWNET;

struct program {
    struct sock_filter *at;
    size_t count, capacity;
};

static void add(struct program *program, unsigned short code, unsigned char yes, unsigned char no, unsigned int value) {
    if (program->count < program->capacity) {
        program->at[program->count] = (struct sock_filter){code, yes, no, value};
    }
    program->count++;
}

static void load(struct program *program, size_t offset) {
    add(program, BPF_LD | BPF_W | BPF_ABS, 0, 0, (unsigned int)offset);
}

static void answer(struct program *program, int error) {
    add(program, BPF_RET | BPF_K, 0, 0, error == 0 ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | (unsigned int)error);
}

/// Adds the answer for one loaded value.
static void answer_if(struct program *program, unsigned int value, int error) {
    add(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, value);
    answer(program, error);
}

/// The low half of an argument. The kernel takes only that half of those looked at here, so the other must not count.
static size_t argument(int index) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return offsetof(struct seccomp_data, args) + 8 * (size_t)index;
#else
    return offsetof(struct seccomp_data, args) + 8 * (size_t)index + 4;
#endif
}

/// Protocols of the internet that the kernel has at hand; 0 is the type's own. For others it loads modules, such as SCTP, DCCP and L2TP, which
/// nobody on the machine may need and where holes were found.
static const unsigned int protocols[] = {
    0, IPPROTO_ICMP, IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMPV6, 262 /* IPPROTO_MPTCP */,
};
enum { PROTOCOL_COUNT = sizeof protocols / sizeof *protocols };

/// Filters a call whose first arguments are a socket family, a type and a protocol. Only those that the sandbox's network namespace contains are
/// allowed; vsock, for example, leads to the hypervisor. Of netlink only NETLINK_ROUTE is allowed, by which getifaddrs(3) lists interfaces. To
/// change them the kernel requires a capability over the network namespace, and a job has none.
static void answer_families(struct program *program, unsigned int call) {
    add(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 16 + 2 * PROTOCOL_COUNT, call);
    load(program, argument(0));
    answer_if(program, AF_UNIX, 0);
    add(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 4, AF_NETLINK);
    load(program, argument(2));
    answer_if(program, 0 /* NETLINK_ROUTE */, 0);
    answer(program, EPROTONOSUPPORT);
    add(program, BPF_JMP | BPF_JEQ | BPF_K, 2, 0, AF_INET);
    add(program, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, AF_INET6);
    answer(program, EAFNOSUPPORT);
    // SOCK_STREAM 1, SOCK_DGRAM 2, SOCK_RAW 3, with flags far above: the next, too, load modules, DCCP's 6 that one's.
    load(program, argument(1));
    add(program, BPF_JMP | BPF_JSET | BPF_K, 0, 1, 0xC);
    answer(program, ESOCKTNOSUPPORT);
    load(program, argument(2));
    for (size_t i = 0; i < PROTOCOL_COUNT; i++) answer_if(program, protocols[i], 0);
    answer(program, EPROTONOSUPPORT);
}

/// Filters what the kernel grants by user number, which is the service's. Everybody who opens a leased file waits for the holder of the lease, up
/// to fs.lease-break-time (45 s), and leases are granted on files that are mounted read-only (fcntl(2)). A larger pipe, or a segment locked in
/// memory, uses up a share of all processes of the user.
static void answer_shares(struct program *program) {
    add(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 12, SYS_fcntl);
    load(program, argument(1));
    add(program, BPF_JMP | BPF_JGT | BPF_K, 0, 1, LAST_KNOWN_COMMAND);
    answer(program, EINVAL);
    answer_if(program, F_SETLEASE, EPERM);
    answer_if(program, F_NOTIFY, EPERM);
    add(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 3, F_SETPIPE_SZ);
    load(program, argument(2));
    add(program, BPF_JMP | BPF_JGT | BPF_K, 0, 1, USUAL_PIPE_BYTES);
    answer(program, EPERM);
    answer(program, 0);
    add(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 4, SYS_shmctl);
    load(program, argument(1));
    answer_if(program, SHM_LOCK, EPERM);
    answer(program, 0);
}

size_t clinux_seccomp_filter(void *bytes, size_t size) {
    struct program program = {bytes, 0, size / sizeof(struct sock_filter)};
    load(&program, offsetof(struct seccomp_data, arch));
    add(&program, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, NATIVE);
    answer(&program, ENOSYS);
    load(&program, offsetof(struct seccomp_data, nr));
    // Also what x32 calls by, numbers from 0x40000000 on.
    add(&program, BPF_JMP | BPF_JGT | BPF_K, 0, 1, LAST_KNOWN);
    answer(&program, ENOSYS);
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) answer_if(&program, (unsigned int)absent[i], ENOSYS);
    for (size_t i = 0; i < sizeof forbidden / sizeof *forbidden; i++) {
        answer_if(&program, (unsigned int)forbidden[i], EPERM);
    }
    // clone: threads and processes, no namespaces.
    add(&program, BPF_JMP | BPF_JEQ | BPF_K, 0, 4, SYS_clone);
    load(&program, argument(0));
    add(&program, BPF_JMP | BPF_JSET | BPF_K, 0, 1, namespaces);
    answer(&program, EPERM);
    answer(&program, 0);
    // ioctl: refuses requests that type into a terminal (CVE-2017-5226), speak to a console, or load a line discipline's module.
    add(&program, BPF_JMP | BPF_JEQ | BPF_K, 0, 8, SYS_ioctl);
    load(&program, argument(1));
    answer_if(&program, TIOCSTI, EPERM);
    answer_if(&program, 0x541C /* TIOCLINUX */, EPERM);
    answer_if(&program, TIOCSETD, EPERM);
    answer(&program, 0);
    answer_shares(&program);
    answer_families(&program, SYS_socket);
    // Which makes a socket of the family before it finds that it can make no pair, and loads the family's module for it.
    answer_families(&program, SYS_socketpair);
    answer(&program, 0);
    return program.count * sizeof(struct sock_filter);
}
