// Ways out of a sandbox, one a line of `probes`: each tries it and says `denied WHY` or `OPEN`. Run within a sandboxed job by
// EscapeTests; by hand: cc -o probes probes.c && ./probes
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/// A probe returns 0 when it got through, else -1 with errno.
typedef long (*probe)(void);
#define PROBE(name, expression) static long name(void) { return (long)(expression); }

static char page[4096];
static long numbers[32];

PROBE(mount_tmpfs, mount("none", "/tmp", "tmpfs", 0, ""))
PROBE(mount_bind, mount("/usr", "/tmp", NULL, MS_BIND, NULL))
PROBE(mount_remount, mount(NULL, "/usr", NULL, MS_REMOUNT | MS_BIND, NULL))
PROBE(mount_proc, mount("proc", "/tmp", "proc", 0, NULL))
PROBE(mount_cgroup, mount("none", "/tmp", "cgroup", 0, "memory"))
PROBE(mount_propagation, mount(NULL, "/", NULL, MS_REC | MS_SHARED, NULL))
PROBE(unmount_temporary, umount2("/tmp", 0))
PROBE(unmount_git, umount2(".git", MNT_DETACH))
PROBE(pivot, syscall(SYS_pivot_root, "/tmp", "/tmp"))
PROBE(change_root, chroot("/tmp"))
PROBE(unshare_user, unshare(CLONE_NEWUSER))
PROBE(unshare_mount, unshare(CLONE_NEWNS))
PROBE(unshare_network, unshare(CLONE_NEWNET))
PROBE(unshare_processes, unshare(CLONE_NEWPID))
PROBE(unshare_groups, unshare(0x02000000))
PROBE(unshare_time, unshare(0x00000080))

static long clone_with(unsigned long flags) {
    long pid = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0) _exit(0);
    if (pid > 0) waitpid((pid_t)pid, NULL, 0);
    return pid < 0 ? -1 : 0;
}
PROBE(clone_user, clone_with(CLONE_NEWUSER))
PROBE(clone_mount, clone_with(CLONE_NEWNS))
PROBE(clone_user_and_processes, clone_with(CLONE_NEWUSER | CLONE_NEWPID))

static long clone_three(void) {
    uint64_t arguments[11] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD};
    long pid = syscall(435, arguments, 64);
    if (pid == 0) _exit(0);
    return pid < 0 ? -1 : 0;
}

static long enter(const char *path) {
    int file = open(path, O_RDONLY);
    return file < 0 ? -1 : setns(file, 0);
}
PROBE(enter_own_mount, enter("/proc/self/ns/mnt"))
PROBE(enter_own_user, enter("/proc/self/ns/user"))
PROBE(enter_first_user, enter("/proc/1/ns/user"))
PROBE(open_filesystem, syscall(430, "tmpfs", 0))
PROBE(configure_filesystem, syscall(431, -1, 0, NULL, NULL, 0))
PROBE(mount_filesystem, syscall(432, -1, 0, 0))
PROBE(take_tree, syscall(428, AT_FDCWD, "/usr", 1))
PROBE(move_mount_probe, syscall(429, AT_FDCWD, "/usr", AT_FDCWD, "/tmp", 0))
PROBE(set_mount_attributes, syscall(442, AT_FDCWD, "/usr", 0, page, 32))
PROBE(keyctl_session, syscall(SYS_keyctl, 0, -3, 1))
PROBE(keyctl_join, syscall(SYS_keyctl, 1, NULL))
PROBE(add_key_probe, syscall(SYS_add_key, "user", "a", "b", 1, -2))
PROBE(request_key_probe, syscall(SYS_request_key, "user", "a", NULL, -2))
PROBE(bpf_map, syscall(SYS_bpf, 0, numbers, 72))
PROBE(bpf_program, syscall(SYS_bpf, 5, numbers, 72))
PROBE(ring, syscall(SYS_io_uring_setup, 4, page))
PROBE(ring_enter, syscall(SYS_io_uring_enter, 0, 1, 0, 0, NULL, 0))
PROBE(user_faults, syscall(SYS_userfaultfd, 1))
static long performance(void) {
    uint32_t attributes[28] = {1, 112};
    return syscall(SYS_perf_event_open, attributes, 0, -1, -1, 0);
}
PROBE(trace_first, syscall(SYS_ptrace, PTRACE_ATTACH, 1, 0, 0))
PROBE(seize_first, syscall(SYS_ptrace, PTRACE_SEIZE, 1, 0, 0))
/// A process of its own, stopped and traced, as a debugger has one. Once it goes on it asks for its parent and ends.
static pid_t traced_child(void) {
    pid_t child = fork();
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0) _exit(1);
        raise(SIGSTOP);
        syscall(SYS_getppid);
        _exit(0);
    }
    int status;
    if (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) return child;
    fprintf(stderr, "no process can be traced\n");
    _exit(2);
}
static long after_kill(pid_t child, long result) {
    int error = errno;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    errno = error;
    return result;
}
static long suspend_filter(void) {
    pid_t child = traced_child();
    return after_kill(child, ptrace(PTRACE_SETOPTIONS, child, 0, 1 << 21 /* PTRACE_O_SUSPEND_SECCOMP */));
}
static long read_filter(void) {
    pid_t child = traced_child();
    return after_kill(child, ptrace(0x420c /* PTRACE_SECCOMP_GET_FILTER */, child, 0, page));
}
#if defined(__x86_64__)
/// A call that the filter lets through becomes one that it forbids, once the traced process is on its way into the kernel.
static long change_call(void) {
    pid_t child = traced_child();
    struct user_regs_struct registers;
    int status;
    ptrace(PTRACE_SYSCALL, child, 0, 0);
    waitpid(child, &status, 0);
    ptrace(PTRACE_GETREGS, child, 0, &registers);
    if (registers.orig_rax != SYS_getppid) return after_kill(child, 0);
    registers.orig_rax = SYS_unshare;
    registers.rdi = CLONE_NEWUSER;
    ptrace(PTRACE_SETREGS, child, 0, &registers);
    ptrace(PTRACE_SYSCALL, child, 0, 0);
    waitpid(child, &status, 0);
    ptrace(PTRACE_GETREGS, child, 0, &registers);
    errno = (int)-(long)registers.rax;
    return after_kill(child, (long)registers.rax < 0 ? -1 : 0);
}
#endif
static long read_first(void) {
    struct iovec own = {page, 8}, other = {numbers, 8};
    return process_vm_readv(1, &own, 1, &other, 1, 0);
}
static long write_first(void) {
    struct iovec own = {page, 8}, other = {numbers, 8};
    return process_vm_writev(1, &own, 1, &other, 1, 0);
}
PROBE(compare, syscall(SYS_kcmp, getpid(), 1, 2, 0, 0))
static long take_descriptor(void) {
    int first = (int)syscall(SYS_pidfd_open, 1, 0);
    return first < 0 ? -1 : syscall(438, first, 2, 0);
}
static long open_by_handle(void) {
    struct { struct file_handle handle; char bytes[128]; } file = {.handle = {.handle_bytes = 128}};
    int mount;
    if (name_to_handle_at(AT_FDCWD, "/usr", &file.handle, &mount, 0) != 0) return -1;
    int root = open("/usr", O_RDONLY);
    return syscall(SYS_open_by_handle_at, root, &file.handle, O_RDONLY);
}
PROBE(watch_files, syscall(SYS_fanotify_init, 0, 0))

/// What the kernel grants the owner of a file, however it is mounted: that who opens it waits.
static long lease(int kind) {
    int file = open("probe-lease", O_RDONLY | O_CREAT | O_CLOEXEC, 0644);
    return file < 0 ? -1 : fcntl(file, F_SETLEASE, kind);
}
PROBE(lease_for_writing, lease(F_WRLCK))
PROBE(lease_for_reading, lease(F_RDLCK))
PROBE(lease_with_high_bits, syscall(SYS_fcntl, open("probe-lease", O_RDONLY | O_CREAT, 0644), 0xF00000000UL | F_SETLEASE, F_RDLCK))
PROBE(delegation, fcntl(open(".", O_RDONLY | O_DIRECTORY), 1040, page))
PROBE(directory_notes, fcntl(open(".", O_RDONLY | O_DIRECTORY), F_NOTIFY, DN_CREATE))
static long large_pipe(void) {
    int ends[2];
    return pipe(ends) != 0 ? -1 : fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
}
static long locked_segment(void) {
    int segment = shmget(IPC_PRIVATE, 4096, 0600);
    if (segment < 0) return -1;
    long result = shmctl(segment, SHM_LOCK, NULL);
    int number = errno;
    shmctl(segment, IPC_RMID, NULL);
    errno = number;
    return result;
}

static int terminal(void) {
    int leader = posix_openpt(O_RDWR | O_NOCTTY);
    return leader;
}
PROBE(type_into_terminal, ioctl(terminal(), TIOCSTI, "x"))
PROBE(type_with_high_bits, syscall(SYS_ioctl, terminal(), 0xF00000000UL | TIOCSTI, "x"))
PROBE(console_ioctl, ioctl(terminal(), 0x541C, "\3"))
static long line_discipline(void) { int other = 15; return ioctl(terminal(), TIOCSETD, &other); }
PROBE(own_terminal, open("/dev/tty", O_RDWR))
PROBE(netlink_devices, socket(AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT))
PROBE(netlink_audit, socket(AF_NETLINK, SOCK_RAW, NETLINK_AUDIT))
PROBE(netlink_packet_filter, socket(AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER))
PROBE(netlink_sockets, socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG))
PROBE(netlink_generic, socket(AF_NETLINK, SOCK_DGRAM, NETLINK_GENERIC))
PROBE(netlink_keys, socket(AF_NETLINK, SOCK_RAW, NETLINK_XFRM))
/// The kernel's answer to a request by which the network would be another.
static long change_network(int type, int flags, const void *body, size_t size) {
    struct { struct nlmsghdr header; char bytes[128]; } request = {
        .header = {.nlmsg_len = NLMSG_LENGTH(size), .nlmsg_type = type, .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags}};
    struct { struct nlmsghdr header; struct nlmsgerr error; char bytes[256]; } said;
    int routes = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    memcpy(request.bytes, body, size);
    if (routes < 0 || send(routes, &request, request.header.nlmsg_len, 0) < 0) return -1;
    if (recv(routes, &said, sizeof said, 0) < 0 || said.header.nlmsg_type != NLMSG_ERROR) return -1;
    errno = -said.error.error;
    return said.error.error == 0 ? 0 : -1;
}
static long loopback_down(void) {
    struct ifinfomsg link = {.ifi_family = AF_UNSPEC, .ifi_index = 1, .ifi_change = 1 /* IFF_UP */};
    return change_network(RTM_NEWLINK, 0, &link, sizeof link);
}
static long add_address(void) {
    struct { struct ifaddrmsg address; struct rtattr kind; unsigned char bytes[4]; } own = {
        {.ifa_family = AF_INET, .ifa_prefixlen = 32, .ifa_index = 1}, {.rta_len = RTA_LENGTH(4), .rta_type = IFA_LOCAL},
        {10, 9, 9, 9}};
    return change_network(RTM_NEWADDR, NLM_F_CREATE, &own, sizeof own);
}
static long add_route(void) {
    struct { struct rtmsg route; struct rtattr kind; int index; } own = {
        {.rtm_family = AF_INET, .rtm_table = RT_TABLE_MAIN, .rtm_scope = RT_SCOPE_LINK, .rtm_type = RTN_UNICAST},
        {.rta_len = RTA_LENGTH(4), .rta_type = RTA_OIF}, 1};
    return change_network(RTM_NEWROUTE, NLM_F_CREATE, &own, sizeof own);
}
static long remove_rule(void) {
    struct rtmsg rule = {.rtm_family = AF_INET, .rtm_table = RT_TABLE_MAIN};
    return change_network(RTM_DELRULE, 0, &rule, sizeof rule);
}
PROBE(packets, socket(17, SOCK_RAW, 0))
PROBE(hypervisor, socket(40, SOCK_STREAM, 0))
PROBE(kernel_ciphers, socket(38, SOCK_SEQPACKET, 0))
PROBE(raw_internet, socket(AF_INET, SOCK_RAW, 1))
PROBE(stream_control, socket(AF_INET, SOCK_STREAM, 132))
PROBE(congestion_control, socket(AF_INET, 6, 33))
PROBE(congestion_control_by_type, socket(AF_INET, 6, 0))
PROBE(tunnel_datagrams, socket(AF_INET6, SOCK_DGRAM, 115))
PROBE(netlink_pair, socketpair(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE, (int *)numbers))
PROBE(cluster_pair, socketpair(30, SOCK_STREAM, 0, (int *)numbers))
PROBE(family_with_high_bits, syscall(SYS_socket, 0x100000011UL, SOCK_RAW, 0))
PROBE(load_module, syscall(SYS_init_module, page, 1, ""))
PROBE(load_module_file, syscall(SYS_finit_module, 0, "", 0))
PROBE(unload_module, syscall(SYS_delete_module, "ext4", O_NONBLOCK))
PROBE(load_kernel, syscall(SYS_kexec_load, 0, 0, NULL, 0))
PROBE(restart_machine, syscall(SYS_reboot, 0xfee1dead, 672274793, 0x89abcdef, NULL))
PROBE(swap, syscall(SYS_swapon, "/usr", 0))
PROBE(account, syscall(SYS_acct, "/tmp/acct"))
PROBE(kernel_log, syscall(SYS_syslog, 3, page, sizeof page))
PROBE(set_time, syscall(SYS_settimeofday, numbers, NULL))
PROBE(set_clock, syscall(SYS_clock_settime, 0, numbers))
PROBE(rename_host, sethostname("x", 1))
PROBE(quota, syscall(SYS_quotactl, 0x800002 << 8, "/usr", 0, NULL))
PROBE(become_root, setuid(0))
PROBE(become_another, setuid(12345))
static long become_groups(void) { gid_t group = 0; return setgroups(1, &group); }
static long take_capabilities(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct all[2] = {{~0u, ~0u, ~0u}, {~0u, ~0u, ~0u}};
    return syscall(SYS_capset, &header, all);
}
PROBE(keep_capabilities, prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 21, 0, 0))
PROBE(gain_privileges, prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0))
PROBE(secure_bits, prctl(PR_SET_SECUREBITS, 1, 0, 0, 0))
PROBE(character_device, mknod("/tmp/c", S_IFCHR | 0666, (1 << 8) | 1))
PROBE(block_device, mknod("/tmp/b", S_IFBLK | 0666, (254 << 8)))
static long core_limit(void) { struct rlimit any = {RLIM_INFINITY, RLIM_INFINITY}; return setrlimit(RLIMIT_CORE, &any); }
static long file_limit(void) { struct rlimit any = {RLIM_INFINITY, RLIM_INFINITY}; return setrlimit(RLIMIT_FSIZE, &any); }
static long real_time(void) { struct sched_param most = {99}; return sched_setscheduler(0, SCHED_FIFO, &most); }
PROBE(priority, setpriority(PRIO_PROCESS, 0, -20))
/// A namespace's first process takes no signal from within, although kill says that it was sent (pid_namespaces(7)). Were it
/// taken, the kernel would end this program too: no later row, and no exit status 0 of the step.
PROBE(signal_first, kill(1, SIGKILL) == 0 ? (errno = EPERM, -1) : -1)
PROBE(unknown_call, syscall(600))
#if defined(__x86_64__)
PROBE(io_privilege, syscall(SYS_iopl, 3))
PROBE(io_ports, syscall(SYS_ioperm, 0x70, 2, 1))
PROBE(segments, syscall(SYS_modify_ldt, 0, page, 16))
/// mkdir by the 32-bit table, where its number is another's in ours.
static long other_table(void) {
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20L), "b"(0L) : "memory", "r8", "r9", "r10", "r11");
    if (result >= 0) return 0;
    errno = (int)-result;
    return -1;
}
PROBE(x32_call, syscall(0x40000000 | 39))
#endif

static long write_to(const char *path, const char *text) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    return file < 0 || write(file, text, strlen(text)) < 0 ? -1 : 0;
}
static long read_from(const char *path) {
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    return file < 0 || read(file, page, sizeof page) < 0 ? -1 : 0;
}
/// A setting's own value, so that nothing changes where it is let through.
static long write_back(const char *path) {
    char text[4096] = {0};
    int file = open(path, O_RDONLY);
    if (file < 0 || read(file, text, sizeof text - 1) < 0) return -1;
    return write_to(path, text);
}
PROBE(core_pattern, write_back("/proc/sys/kernel/core_pattern"))
PROBE(modprobe_path, write_back("/proc/sys/kernel/modprobe"))
PROBE(hotplug_path, write_back("/proc/sys/kernel/hotplug"))
PROBE(swappiness, write_back("/proc/sys/vm/swappiness"))
PROBE(binary_formats, open("/proc/sys/fs/binfmt_misc/register", O_WRONLY))
PROBE(system_request, open("/proc/sysrq-trigger", O_WRONLY))
PROBE(kernel_memory, read_from("/proc/kcore"))
PROBE(kernel_messages, open("/proc/kmsg", O_RDONLY | O_NONBLOCK))
PROBE(first_root, open("/proc/1/root", O_RDONLY))
PROBE(first_cwd, open("/proc/1/cwd", O_RDONLY))
PROBE(first_memory, open("/proc/1/mem", O_RDWR))
PROBE(first_environment, read_from("/proc/1/environ"))
PROBE(first_descriptors, open("/proc/1/fd/2", O_WRONLY))
PROBE(first_program, open("/proc/1/exe", O_RDONLY))
PROBE(first_maps, read_from("/proc/1/maps"))
PROBE(map_users, write_to("/proc/self/uid_map", "0 0 1"))
PROBE(map_groups, write_to("/proc/self/setgroups", "allow"))
PROBE(interrupts, open("/proc/irq/0/smp_affinity", O_WRONLY))
PROBE(release_agent, open("/sys/fs/cgroup/release_agent", O_WRONLY))
PROBE(release_agent_memory, open("/sys/fs/cgroup/memory/release_agent", O_WRONLY))
PROBE(cgroup_tree, open("/sys/fs/cgroup", O_RDONLY))
PROBE(sys_tree, open("/sys/kernel", O_RDONLY))
PROBE(device_memory, open("/dev/mem", O_RDONLY))
PROBE(device_ports, open("/dev/port", O_RDONLY))
PROBE(device_messages, open("/dev/kmsg", O_RDONLY))
PROBE(device_disk, open("/dev/vda", O_RDONLY) < 0 ? open("/dev/sda", O_RDONLY) : 0)
PROBE(device_fuse, open("/dev/fuse", O_RDWR))
PROBE(device_kvm, open("/dev/kvm", O_RDWR))
PROBE(device_tunnel, open("/dev/net/tun", O_RDWR))
PROBE(device_loop, open("/dev/loop-control", O_RDWR))
PROBE(device_console, open("/dev/console", O_RDWR))
PROBE(write_usr, open("/usr/bin/probe", O_WRONLY | O_CREAT, 0755))
PROBE(write_root, open("/probe", O_WRONLY | O_CREAT, 0644))
PROBE(write_etc, open("/etc/ld.so.preload", O_WRONLY | O_CREAT, 0644))
PROBE(write_git, open(".git/config", O_WRONLY | O_CREAT, 0644))
PROBE(move_git, rename(".git", "moved"))
PROBE(read_shadow, open("/etc/shadow", O_RDONLY))
PROBE(read_keys, open("/etc/ssl/private", O_RDONLY))
PROBE(read_root_home, open("/root", O_RDONLY))
PROBE(docker_socket, access("/var/run/docker.sock", F_OK) == 0 ? 0 : access("/run/docker.sock", F_OK))
PROBE(bus_socket, access("/run/dbus/system_bus_socket", F_OK))
PROBE(systemd_socket, access("/run/systemd/private", F_OK))
PROBE(credentials, access("/run/credentials", F_OK))

/// Programs with the set-user-ID bit give nothing: nosuid, and no new privileges.
static long set_user_program(void) {
    pid_t child = fork();
    if (child == 0) {
        freopen("/dev/null", "w", stderr);
        execlp("mount", "mount", "-t", "tmpfs", "none", "/tmp", (char *)NULL);
        _exit(1);
    }
    int status;
    waitpid(child, &status, 0);
    errno = EPERM;
    return status == 0 ? 0 : -1;
}

/// Any descriptor above 2, before anything was opened here.
static int leaked;
static long leaked_descriptor(void) {
    errno = EBADF;
    return leaked ? 0 : -1;
}

/// root's program with the set-user-ID bit, which the test put into the workspace where it could, is none within.
static long own_set_user_program(void) {
    struct stat status;
    if (stat("root-id", &status) != 0 || !(status.st_mode & S_ISUID)) return -1;
    if (system("./root-id -u > own-id.out") != 0) return -1;
    FILE *said = fopen("own-id.out", "r");
    int user = -1;
    if (said == NULL || fscanf(said, "%d", &user) != 1) return -1;
    fclose(said);
    errno = EPERM;
    return user == (int)geteuid() ? -1 : 0;
}

static const struct { const char *name; probe run; } probes[] = {
#define ROW(name) {#name, name}
    ROW(leaked_descriptor),
    ROW(mount_tmpfs), ROW(mount_bind), ROW(mount_remount), ROW(mount_proc), ROW(mount_cgroup), ROW(mount_propagation),
    ROW(unmount_temporary), ROW(unmount_git), ROW(pivot), ROW(change_root), ROW(unshare_user), ROW(unshare_mount),
    ROW(unshare_network), ROW(unshare_processes), ROW(unshare_groups), ROW(unshare_time), ROW(clone_user),
    ROW(clone_mount), ROW(clone_user_and_processes), ROW(clone_three), ROW(enter_own_mount), ROW(enter_own_user),
    ROW(enter_first_user), ROW(open_filesystem), ROW(configure_filesystem), ROW(mount_filesystem), ROW(take_tree),
    ROW(move_mount_probe), ROW(set_mount_attributes), ROW(keyctl_session), ROW(keyctl_join), ROW(add_key_probe),
    ROW(request_key_probe), ROW(bpf_map), ROW(bpf_program), ROW(ring), ROW(ring_enter), ROW(user_faults),
    ROW(performance), ROW(trace_first), ROW(seize_first), ROW(suspend_filter), ROW(read_filter), ROW(read_first), ROW(write_first),
    ROW(compare), ROW(take_descriptor), ROW(open_by_handle), ROW(watch_files),
    ROW(lease_for_writing), ROW(lease_for_reading), ROW(lease_with_high_bits), ROW(delegation), ROW(directory_notes),
    ROW(large_pipe), ROW(locked_segment), ROW(type_into_terminal),
    ROW(type_with_high_bits), ROW(console_ioctl), ROW(line_discipline), ROW(own_terminal), ROW(netlink_devices), ROW(netlink_audit),
    ROW(netlink_packet_filter), ROW(netlink_sockets), ROW(netlink_generic), ROW(netlink_keys), ROW(loopback_down), ROW(add_address),
    ROW(add_route), ROW(remove_rule), ROW(packets), ROW(hypervisor),
    ROW(kernel_ciphers), ROW(raw_internet), ROW(stream_control), ROW(congestion_control), ROW(congestion_control_by_type), ROW(tunnel_datagrams), ROW(netlink_pair), ROW(cluster_pair), ROW(family_with_high_bits), ROW(load_module), ROW(load_module_file),
    ROW(unload_module), ROW(load_kernel), ROW(restart_machine), ROW(swap), ROW(account), ROW(kernel_log),
    ROW(set_time), ROW(set_clock), ROW(rename_host), ROW(quota), ROW(become_root), ROW(become_another),
    ROW(become_groups), ROW(take_capabilities), ROW(keep_capabilities), ROW(gain_privileges), ROW(secure_bits),
    ROW(character_device), ROW(block_device), ROW(core_limit), ROW(file_limit), ROW(real_time), ROW(priority),
    ROW(signal_first), ROW(unknown_call),
#if defined(__x86_64__)
    ROW(change_call), ROW(io_privilege), ROW(io_ports), ROW(segments), ROW(other_table), ROW(x32_call),
#endif
    ROW(core_pattern), ROW(modprobe_path), ROW(hotplug_path), ROW(swappiness), ROW(binary_formats),
    ROW(system_request), ROW(kernel_memory), ROW(kernel_messages), ROW(first_root), ROW(first_cwd), ROW(first_memory),
    ROW(first_environment), ROW(first_descriptors), ROW(first_program), ROW(first_maps), ROW(map_users),
    ROW(map_groups), ROW(interrupts), ROW(release_agent), ROW(release_agent_memory), ROW(cgroup_tree), ROW(sys_tree),
    ROW(device_memory), ROW(device_ports), ROW(device_messages), ROW(device_disk), ROW(device_fuse), ROW(device_kvm),
    ROW(device_tunnel), ROW(device_loop), ROW(device_console), ROW(write_usr), ROW(write_root), ROW(write_etc),
    ROW(write_git), ROW(move_git), ROW(read_shadow), ROW(read_keys), ROW(read_root_home), ROW(docker_socket),
    ROW(bus_socket), ROW(systemd_socket), ROW(credentials), ROW(set_user_program), ROW(own_set_user_program),
};

int main(void) {
    int opened = 0;
    for (int number = 3; number < 1024; number++) leaked = leaked || fcntl(number, F_GETFD) >= 0;
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
        // Each in a process of its own: one that got through must not change what the next finds.
        int result[2], said = 0;
        fflush(stdout);
        if (pipe(result) != 0) return 2;
        pid_t child = fork();
        if (child == 0) {
            errno = 0;
            int number = probes[i].run() < 0 ? (errno == 0 ? EPERM : errno) : -1;
            if (write(result[1], &number, sizeof number) < 0) _exit(2);
            _exit(0);
        }
        close(result[1]);
        if (read(result[0], &said, sizeof said) != (ssize_t)sizeof said) said = 0;
        close(result[0]);
        int status;
        waitpid(child, &status, 0);
        if (said == -1) opened++;
        printf("%s %s %s\n", probes[i].name, said == -1 ? "OPEN" : said == 0 ? "died" : "denied",
            said > 0 ? strerrorname_np(said) : "");
    }
    return opened == 0 ? 0 : 1;
}
