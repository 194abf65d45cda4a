// Runs a program under ptrace(2) and kills it, with all its threads, at one system call. Its children run free.
//   releases_killer BEGIN END PROGRAM WORD…
// Commands are lines on standard input: `at N` arms it. From the next write whose bytes hold BEGIN on, the system calls of all threads are
// counted but for those that only wait or move memory; the N-th is not done: the program gets SIGKILL as it enters it. `change N` counts only those
// that change something outside of the program. A write whose bytes hold
// END and no BEGIN ends the counting. Answers are lines on standard output: `killed N NUMBER` (which system call), `passed COUNT`, `ended STATUS`.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/ptrace.h>

static const char *begin_text, *end_text;
static long target, count;
static int counting, changes_only;
static pid_t leader;

// What changes nothing that outlives the program, and tells it nothing: to die there is to die at the next one.
static int waits(long number) {
    switch (number) {
    case SYS_futex: case SYS_epoll_wait: case SYS_epoll_pwait: case SYS_sched_yield: case SYS_nanosleep: case SYS_clock_nanosleep:
    case SYS_mmap: case SYS_munmap: case SYS_mprotect: case SYS_madvise: case SYS_brk: case SYS_rt_sigprocmask: case SYS_getpid:
    case SYS_gettid: case SYS_rt_sigaction: case SYS_poll: case SYS_ppoll: case SYS_clock_gettime: case SYS_rseq:
    case SYS_set_robust_list: case SYS_sched_getaffinity: case SYS_prctl: case SYS_getrandom:
        return 1;
    }
    return 0;
}

static int holds(pid_t thread, unsigned long place, unsigned long length, const char *text) {
    static char bytes[1 << 20];
    if (length > sizeof bytes) length = sizeof bytes;
    struct iovec here = { bytes, length }, there = { (void *)place, length };
    ssize_t read = process_vm_readv(thread, &here, 1, &there, 1, 0);
    return read > 0 && memmem(bytes, read, text, strlen(text)) != NULL;
}

// Whether a call only looks. What is not known here is taken to change something.
static int looks(pid_t thread, const struct ptrace_syscall_info *call) {
    unsigned long long flags[1] = { 0 };
    switch (call->entry.nr) {
    case SYS_openat:
        return !(call->entry.args[2] & O_CREAT);
    case SYS_openat2: {
        struct iovec here = { flags, sizeof flags }, there = { (void *)call->entry.args[2], sizeof flags };
        return process_vm_readv(thread, &here, 1, &there, 1, 0) == sizeof flags && !(flags[0] & O_CREAT);
    }
    case SYS_read: case SYS_pread64: case SYS_readv: case SYS_close: case SYS_fstat: case SYS_newfstatat: case SYS_statx: case SYS_faccessat:
    case SYS_faccessat2: case SYS_readlinkat: case SYS_lseek: case SYS_fcntl: case SYS_getdents64: case SYS_recvfrom: case SYS_recvmsg:
    case SYS_getsockopt: case SYS_ioctl: case SYS_epoll_ctl: case SYS_fstatfs: case SYS_statfs: case SYS_geteuid: case SYS_getuid:
    case SYS_timerfd_settime: case SYS_eventfd2: case SYS_flock: case SYS_fadvise64:
#ifdef SYS_access
    case SYS_access: case SYS_readlink: case SYS_stat: case SYS_lstat:
#endif
        return 1;
    }
    return 0;
}

static void enters(pid_t thread, const struct ptrace_syscall_info *call) {
    long number = (long)call->entry.nr;
    int writes = number == SYS_write || number == SYS_pwrite64;
    if (!counting && target && writes && holds(thread, call->entry.args[1], call->entry.args[2], begin_text)) {
        counting = 1;
        count = 0;
    }
    if (!counting || waits(number)) return;
    int counts = !changes_only || !looks(thread, call);
    if (counts && ++count == target) {
        kill(leader, SIGKILL);
        printf("killed %ld %ld\n", count, number);
        counting = 0, target = 0;
    } else if (writes && holds(thread, call->entry.args[1], call->entry.args[2], end_text)
               && !holds(thread, call->entry.args[1], call->entry.args[2], begin_text)) {
        printf("passed %ld\n", count);
        counting = 0, target = 0;
    }
    fflush(stdout);
}

static void obey(void) {
    struct pollfd input = { 0, POLLIN, 0 };
    char line[64];
    while (poll(&input, 1, 0) > 0 && (input.revents & POLLIN)) {
        ssize_t length = read(0, line, sizeof line - 1);
        if (length <= 0) return;
        line[length] = 0;
        counting = 0;
        changes_only = sscanf(line, "change %ld", &target) == 1;
        if (!changes_only) sscanf(line, "at %ld", &target);
        printf("armed %ld\n", target);
        fflush(stdout);
    }
}

static void on_alarm(int signal) { (void)signal; }

int main(int argc, char **argv) {
    if (argc < 4) return 64;
    begin_text = argv[1], end_text = argv[2];
    leader = fork();
    if (leader == 0) {
        int null = open("/dev/null", 0);
        dup2(null, 0);
        dup2(2, 1);
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        execv(argv[3], argv + 3);
        _exit(127);
    }
    int status;
    if (waitpid(leader, &status, 0) != leader || !WIFSTOPPED(status)) return 70;
    // Threads are followed; what is forked or spawned is not.
    if (ptrace(PTRACE_SETOPTIONS, leader, 0, PTRACE_O_TRACECLONE | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)) return 70;
    ptrace(PTRACE_SYSCALL, leader, 0, 0);
    struct sigaction action = { .sa_handler = on_alarm };
    sigaction(SIGUSR1, &action, NULL);
    while (1) {
        pid_t thread = waitpid(-1, &status, __WALL);
        obey();
        if (thread < 0) {
            if (errno == EINTR) continue;
            return 70;
        }
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (thread != leader) continue;
            printf("ended %d\n", status);
            return 0;
        }
        int signal = WSTOPSIG(status), passed = 0;
        if (signal == (SIGTRAP | 0x80)) {
            struct ptrace_syscall_info call;
            if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof call, &call) > 0 && call.op == PTRACE_SYSCALL_INFO_ENTRY) enters(thread, &call);
        } else if (status >> 16 == 0 && signal != SIGSTOP) {
            passed = signal;
        }
        ptrace(PTRACE_SYSCALL, thread, 0, passed);
    }
}
