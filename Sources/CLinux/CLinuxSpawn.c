#define _GNU_SOURCE
#include "CLinuxProcess.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Low, so that a limit of 128 open files is enough.
enum { KEEP_LIMIT = 32, AWAY = 36 };

void clinux_reset_signals(void) {
    // The kernel's struct: handler, flags, restorer and mask; all zeros is SIG_DFL. signal(3) does not work: it refuses the two signals that the C
    // library reserves, and posix_spawn(3) leaves those ignored.
    const unsigned long ordinary[4] = {0, 0, 0, 0};
    for (int number = 1; number <= 64; number++) syscall(SYS_rt_sigaction, number, ordinary, NULL, sizeof(unsigned long));
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

int clinux_end_with_parent(int signal) { return prctl(PR_SET_PDEATHSIG, signal); }

/// What root must keep to map itself into a user namespace (user_namespaces(7), since Linux 5.12). Bubblewrap drops it.
static const int mapping = CAP_SETFCAP;

/// Keeps an executed program from regaining capabilities, even one of root. A process that may not drop them has none to regain.
static void empty_bounding_set(void) {
    for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++) {
        if (capability != mapping) prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
    }
}

static int drop_capabilities(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct kept[2] = {{0, 0, 0}, {0, 0, 0}};
    if (geteuid() == 0) kept[0].effective = kept[0].permitted = 1u << mapping;
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    return (int)syscall(SYS_capset, &header, kept);
}

static int become_user(const clinux_spawn_request *request) {
    if (request->user < 0) return 0;
    if (setgroups(0, NULL) != 0 || setresgid((gid_t)request->group, (gid_t)request->group, (gid_t)request->group) != 0) {
        return -1;
    }
    return setresuid((uid_t)request->user, (uid_t)request->user, (uid_t)request->user);
}

static int limit(int resource, int64_t value) {
    struct rlimit both = {(rlim_t)value, (rlim_t)value};
    if (value < 0) return 0;
    if (setrlimit(resource, &both) == 0) return 0;
    // Lower than ours already: then that one holds.
    return errno == EPERM ? 0 : -1;
}

static int enter_groups(const clinux_spawn_request *request) {
    for (size_t i = 0; i < request->group_count; i++) {
        if (write(request->groups[i], "0", 1) != 1) return -1;
    }
    return 0;
}

/// Forks, into a control group if one is given (clone3(2), Linux 5.7; a surrounding filter may answer ENOSYS). Moving there later waits for every
/// processor to pass through the scheduler, some 15 ms on an idle machine. The caller has one thread, so fork(2)'s work for other threads is not
/// needed.
static pid_t begin(const clinux_spawn_request *request, int *is_born_there) {
    *is_born_there = 0;
    if (request->birthplace > 0) {
        struct clone_args arguments = {
            .flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = (uint64_t)request->birthplace};
        pid_t child = (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
        *is_born_there = child >= 0;
        if (child >= 0) return child;
    }
    return fork();
}

static int place_descriptors(const clinux_spawn_request *request) {
    int away[KEEP_LIMIT + 2], null;
    if (request->keep_count > KEEP_LIMIT) {
        errno = EINVAL;
        return -1;
    }
    // First away from where they are to go, so that none overwrites another.
    for (size_t i = 0; i < request->keep_count + 2; i++) {
        int from = i < request->keep_count ? request->keep[i] : i == request->keep_count ? request->output : request->errors;
        if ((away[i] = fcntl(from, F_DUPFD_CLOEXEC, AWAY)) < 0) return -1;
    }
    if ((null = open("/dev/null", O_RDONLY | O_CLOEXEC)) < 0 || dup2(null, 0) != 0) return -1;
    if (dup2(away[request->keep_count], 1) != 1 || dup2(away[request->keep_count + 1], 2) != 2) return -1;
    for (size_t i = 0; i < request->keep_count; i++) {
        if (dup2(away[i], 3 + (int)i) < 0) return -1;
    }
    // CLOSE_RANGE_CLOEXEC: the report pipe must live until the exec.
    return (int)syscall(SYS_close_range, 3u + (unsigned int)request->keep_count, ~0u, 4u);
}

/// Set in the child when all that is left to fail is the command itself.
static int is_at_command;

/// When the machine has no memory left, what this process becomes, and what that starts, is ended before others
/// (proc_pid_oom_score_adj(5); 1000 is the most). Within a sandbox of root's own nobody can say so any more. /proc shows a child of
/// what is not dumpable as root's; another user's is told so from outside.
static void yield_memory(void) {
    int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file < 0) return;
    if (write(file, "1000", 4) < 0) errno = 0;
    close(file);
}

/// Where the kernel groups sessions (sched(7), autogroup), it schedules a session as one unit, whatever its processes' niceness. Has no effect if
/// the process may not set it again so soon, or has no such file.
static void yield_processors(void) {
    int niceness = getpriority(PRIO_PROCESS, 0), file;
    char text[8];
    if (niceness <= 0 || (file = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC)) < 0) return;
    if (write(file, text, (size_t)snprintf(text, sizeof text, "%d", niceness)) < 0) errno = 0;
    close(file);
}

int clinux_gate(void) { return eventfd(0, EFD_CLOEXEC); }

// A number and not the end of a pipe: a process that inherits the descriptor would keep a pipe open.
int clinux_gate_open(int gate, int passes) { return eventfd_write(gate, passes ? 1 : 2); }

int clinux_gate_wait(int gate) {
    eventfd_t value = 0;
    int result;
    do result = eventfd_read(gate, &value);
    while (result != 0 && errno == EINTR);
    return result == 0 && value == 1;
}

/// Sets the soft limit to `value`, or to the hard limit if that is lower.
static void set_soft_limit(__rlimit_resource_t resource, rlim_t value) {
    struct rlimit both;
    if (getrlimit(resource, &both) != 0) return;
    both.rlim_cur = value < both.rlim_max ? value : both.rlim_max;
    setrlimit(resource, &both);
}

/// Resets what a command would inherit from the process that started the service and what execve(2) keeps, so that every job runs alike. Hard
/// limits, niceness and allowed processors are the operator's and stay.
static void forget_parent(void) {
    const struct sched_param ordinary = {0};
    int persona = personality(0xFFFFFFFF), policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
    // setarch(8): fixed addresses, and executable data.
    if (persona >= 0 && (persona & ~PER_MASK) != 0) personality((unsigned long)(persona & PER_MASK));
    if (policy == SCHED_FIFO || policy == SCHED_RR) sched_setscheduler(0, SCHED_OTHER, &ordinary);
    // The kernel's own value, init_task.timer_slack_ns: 0 would set the parent's.
    prctl(PR_SET_TIMERSLACK, 50000UL, 0, 0, 0);
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    // The daemon has raised its own limit to the hard limit, but some programs close every number below their limit.
    set_soft_limit(RLIMIT_NOFILE, 65536);
    // The kernel's own value, _STK_LIM.
    set_soft_limit(RLIMIT_STACK, 8 << 20);
    const __rlimit_resource_t unlimited[] = {RLIMIT_CPU, RLIMIT_AS, RLIMIT_DATA, RLIMIT_RTTIME, RLIMIT_FSIZE, RLIMIT_NPROC};
    for (size_t i = 0; i < sizeof unlimited / sizeof *unlimited; i++) set_soft_limit(unlimited[i], RLIM_INFINITY);
}

static void become_command(const clinux_spawn_request *request, int gate, pid_t parent, int is_born_there) {
    struct rlimit no_core = {0, 0};
    if (!is_born_there && enter_groups(request) != 0) return;
    yield_memory();
    setsid();
    yield_processors();
    clinux_reset_signals();
    forget_parent();
    setrlimit(RLIMIT_CORE, &no_core);
    umask(022);
    if (limit(RLIMIT_FSIZE, request->file_bytes) != 0 || limit(RLIMIT_NPROC, request->processes) != 0) return;
    if (request->address_bytes > 0 && limit(RLIMIT_AS, request->address_bytes) != 0) return;
    if (request->open_files > 0 && limit(RLIMIT_NOFILE, request->open_files) != 0) return;
    if (request->pending_signals > 0 && limit(RLIMIT_SIGPENDING, request->pending_signals) != 0) return;
    if (request->message_bytes > 0 && limit(RLIMIT_MSGQUEUE, request->message_bytes) != 0) return;
    // Both need capabilities, so those go last.
    if (request->drops_capabilities) empty_bounding_set();
    if (become_user(request) != 0) return;
    if (request->drops_capabilities && drop_capabilities() != 0) return;
    // After the change of user, which clears it (prctl(2), PR_SET_PDEATHSIG).
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    if (fchdir(request->directory) != 0 || place_descriptors(request) != 0) return;
    environ = (char **)request->environment;
    // The process that holds the gate has its own end of it.
    if (gate >= 0 && !clinux_gate_wait(gate)) _exit(127);
    is_at_command = 1;
    execvp(request->arguments[0], request->arguments);
}

pid_t clinux_spawn(const clinux_spawn_request *request, int *failure) {
    int told;
    pid_t child = clinux_spawn_begin(request, &told, failure);
    return child < 0 ? child : clinux_spawn_end(child, told, failure);
}

pid_t clinux_spawn_begin(const clinux_spawn_request *request, int *told, int *failure) {
    int report[2];
    *failure = 0;
    if (pipe2(report, O_CLOEXEC) != 0) {
        *failure = errno;
        return CLINUX_SPAWN_FAULT;
    }
    pid_t parent = getpid();
    int is_born_there;
    pid_t child = begin(request, &is_born_there);
    if (child < 0) {
        *failure = errno;
        close(report[0]);
        close(report[1]);
        return CLINUX_SPAWN_FAULT;
    }
    if (child == 0) {
        // Out of the way of the descriptors that are to be kept.
        int away = fcntl(report[1], F_DUPFD_CLOEXEC, AWAY);
        int gate = request->gate > 0 ? fcntl(request->gate, F_DUPFD_CLOEXEC, AWAY) : -1;
        if (away >= 0 && (gate >= 0 || request->gate <= 0)) become_command(request, gate, parent, is_born_there);
        // Ours are told as negative numbers.
        int number = is_at_command ? errno : -errno;
        if (write(away < 0 ? report[1] : away, &number, sizeof number) < 0) _exit(126);
        _exit(127);
    }
    close(report[1]);
    *told = report[0];
    return child;
}

pid_t clinux_spawn_end(pid_t child, int told, int *failure) {
    int number = 0;
    ssize_t count;
    do count = read(told, &number, sizeof number);
    while (count < 0 && errno == EINTR);
    close(told);
    if (count == (ssize_t)sizeof number) {
        int status;
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
        *failure = number < 0 ? -number : number;
        return number < 0 ? CLINUX_SPAWN_FAULT : CLINUX_SPAWN_NO_COMMAND;
    }
    return child;
}
