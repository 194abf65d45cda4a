// What Tests/Acceptance/arm64 runs on an arm64 kernel, with the filter of the sources linked in.
//   arm64_guest calls            what the filter says of each call, and the kernel without it: a line a call
//   arm64_guest fence DIRECTORY PROGRAM…   bubblewrap with the options and files that a supervisor gave it, which lie in DIRECTORY
//   arm64_guest first PROGRAM…   the program, as a supervisor within the fence starts it: that one has limits, and cannot be looked into
//   arm64_guest ordinary PROGRAM…          the program, as the same user as in the fence
//   arm64_guest -u               who it is, as `id -u`; for a probe
// By hand: aarch64-linux-gnu-gcc -static -I Sources/CLinux/include -o guest Tests/Acceptance/arm64_guest.c Sources/CLinux/CLinuxSeccomp.c
#define _GNU_SOURCE
#include "../../Sources/CLinux/include/CLinuxSandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { USER = 1001, OPTION_LIMIT = 1000, DESCRIPTOR_LIMIT = 64 };

static unsigned char filter[CLINUX_SECCOMP_LIMIT];
static size_t filter_size;

static void fail(const char *what) {
    perror(what);
    exit(2);
}

static void obey_filter(void) {
    struct sock_fprog program = {filter_size / sizeof(struct sock_filter), (struct sock_filter *)filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("no new privileges");
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) fail("the filter");
}

/// A call with arguments that do no harm where it is let through, and the answer that the filter is to give.
struct row {
    const char *name;
    long number;
    int error;
    long arguments[3];
};

#define FORBIDDEN(name) {#name, SYS_##name, EPERM, {0, 0, 0}}
#define NEWER(name, number) {#name, number, EPERM, {0, 0, 0}}
#define ABSENT(name, number) {#name, number, ENOSYS, {0, 0, 0}}
static const struct row rows[] = {
    FORBIDDEN(mount), FORBIDDEN(umount2), FORBIDDEN(pivot_root), FORBIDDEN(chroot), FORBIDDEN(unshare), FORBIDDEN(setns),
    NEWER(open_tree, 428), NEWER(move_mount, 429), NEWER(fsopen, 430), NEWER(fsconfig, 431), NEWER(fsmount, 432),
    NEWER(fspick, 433), NEWER(pidfd_getfd, 438), NEWER(process_madvise, 440), NEWER(mount_setattr, 442),
    NEWER(quotactl_fd, 443), NEWER(open_tree_attr, 467),
    FORBIDDEN(kcmp), FORBIDDEN(keyctl),
    FORBIDDEN(add_key), FORBIDDEN(request_key), FORBIDDEN(bpf), FORBIDDEN(userfaultfd), FORBIDDEN(perf_event_open),
    FORBIDDEN(open_by_handle_at), FORBIDDEN(fanotify_init), FORBIDDEN(kexec_load), FORBIDDEN(kexec_file_load),
    FORBIDDEN(init_module), FORBIDDEN(finit_module), FORBIDDEN(delete_module), FORBIDDEN(reboot), FORBIDDEN(swapon),
    FORBIDDEN(swapoff), FORBIDDEN(acct), FORBIDDEN(syslog), FORBIDDEN(quotactl), FORBIDDEN(settimeofday),
    FORBIDDEN(clock_settime), FORBIDDEN(sethostname), FORBIDDEN(setdomainname), FORBIDDEN(vhangup),
    FORBIDDEN(lookup_dcookie), FORBIDDEN(nfsservctl), FORBIDDEN(move_pages), FORBIDDEN(migrate_pages),
    ABSENT(io_uring_setup, 425), ABSENT(io_uring_enter, 426), ABSENT(io_uring_register, 427), ABSENT(clone3, 435),
    ABSENT(a_newer_call, 470), ABSENT(a_call_of_another_table, 0x40000000),
    {"clone_user", SYS_clone, EPERM, {CLONE_NEWUSER | SIGCHLD, 0, 0}},
    {"clone_mount", SYS_clone, EPERM, {CLONE_NEWNS | SIGCHLD, 0, 0}},
    {"clone_network", SYS_clone, EPERM, {CLONE_NEWNET | SIGCHLD, 0, 0}},
    {"ioctl_tiocsti", SYS_ioctl, EPERM, {-1, TIOCSTI, 0}},
    {"ioctl_tioclinux", SYS_ioctl, EPERM, {-1, 0x541C, 0}},
    {"ioctl_tiocsetd", SYS_ioctl, EPERM, {-1, TIOCSETD, 0}},
    {"socket_netlink", SYS_socket, EPROTONOSUPPORT, {16, SOCK_RAW, 15}},
    {"socket_packet", SYS_socket, EAFNOSUPPORT, {17, SOCK_RAW, 0}},
    {"socket_alg", SYS_socket, EAFNOSUPPORT, {38, SOCK_SEQPACKET, 0}},
    {"socketpair_netlink", SYS_socketpair, EPROTONOSUPPORT, {16, SOCK_RAW, 15}},
    {"socket_dccp", SYS_socket, ESOCKTNOSUPPORT, {AF_INET, 6, 0}},
    {"socket_sctp", SYS_socket, EPROTONOSUPPORT, {AF_INET, SOCK_STREAM, 132}},
    // What every build needs is the kernel's own answer with the filter as without.
    {"socket_unix", SYS_socket, 0, {AF_UNIX, SOCK_STREAM, 0}},
    {"socket_internet", SYS_socket, 0, {AF_INET, SOCK_STREAM, 0}},
    {"socket_routes", SYS_socket, 0, {16, SOCK_RAW, 0}},
    {"ptrace", SYS_ptrace, 0, {0, 0, 0}},
    {"fork", SYS_clone, 0, {SIGCHLD, 0, 0}},
    {"getpid", SYS_getpid, 0, {0, 0, 0}},
    {"dup", SYS_dup, 0, {1, 0, 0}},
};

/// The call's error, or 0.
static int answer(const struct row *row, int filtered) {
    int said = -1, ends[2];
    fflush(stdout);
    if (pipe(ends) != 0) fail("pipe");
    pid_t child = fork();
    if (child == 0) {
        if (filtered) obey_filter();
        errno = 0;
        long value = syscall(row->number, row->arguments[0], row->arguments[1], row->arguments[2], 0, 0, 0);
        if (row->number == SYS_clone && value == 0) _exit(0);
        int error = value < 0 ? errno : 0;
        if (write(ends[1], &error, sizeof error) < 0) _exit(2);
        _exit(0);
    }
    close(ends[1]);
    if (read(ends[0], &said, sizeof said) != (ssize_t)sizeof said) said = -1;
    close(ends[0]);
    waitpid(child, NULL, 0);
    return said;
}

static const char *name(int error) { return error < 0 ? "died" : error == 0 ? "done" : strerrorname_np(error); }

/// A program of Arm's 32 bits that ends with 42, if its only call is heard, and else by an instruction that is none.
static const unsigned int other_table[] = {
    0x464C457F, 0x00010101, 0, 0, 0x00280002, 1, 0x00010054, 0x34, 0, 0x05000200, 0x00200034, 0x00280001, 0,  // Elf32_Ehdr
    1, 0, 0x00010000, 0x00010000, 0x68, 0x68, 5, 0x1000,                                                       // Elf32_Phdr
    0xE3A0002A, 0xE3A07001, 0xEF000000, 0xE7F000F0, 0,  // mov r0, #42; mov r7, #1; svc #0; udf
};

/// How it ended: its status, or 128 and the signal.
static int run_other_table(int filtered) {
    const char *path = "/tmp/other-table";
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755), status;
    if (file < 0 || write(file, other_table, sizeof other_table) != (ssize_t)sizeof other_table) fail(path);
    close(file);
    pid_t child = fork();
    if (child == 0) {
        if (filtered) obey_filter();
        execl(path, path, (char *)NULL);
        _exit(errno);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Each line: `call NAME held|WRONG`, the filter's answer and the kernel's. Root's own, so that nothing else forbids it.
static int calls(void) {
    int wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *row = &rows[i];
        int with = answer(row, 1), without = answer(row, 0);
        int held = with == row->error;
        wrong += !held;
        printf("call %s %s %s, without %s\n", row->name, held ? "held" : "WRONG", name(with), name(without));
    }
    int with = run_other_table(1), without = run_other_table(0);
    int held = with == 128 + SIGILL && without == 42;
    printf("call exit_of_32_bits %s %s, without %d\n", held ? "held" : "WRONG", with == 128 + SIGILL ? "unheard" : "heard", without);
    return wrong == 0 && held ? 0 : 1;
}

/// The descriptor NUMBER is the file DIRECTORY/fd-NUMBER, for all that are there.
static void open_descriptors(const char *directory) {
    for (int number = 3; number < DESCRIPTOR_LIMIT; number++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/fd-%d", directory, number);
        int file = open(path, O_RDONLY);
        if (file < 0) continue;
        if (file != number && (dup2(file, number) != number || close(file) != 0)) fail(path);
    }
}

/// What a supervisor does itself: its first process within the fence cannot be looked into, and the step has limits that it cannot raise.
static int first(char **program) {
    struct rlimit none = {0, 0}, megabytes = {20 << 20, 20 << 20};
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 || setrlimit(RLIMIT_CORE, &none) != 0) fail("no memory dumps");
    if (setrlimit(RLIMIT_FSIZE, &megabytes) != 0) fail("a limit of files");
    pid_t child = fork();
    if (child == 0) {
        execvp(program[0], program);
        fail(program[0]);
    }
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static void run(const char *program, char **arguments) {
    if (setgroups(0, NULL) != 0 || setgid(USER) != 0 || setuid(USER) != 0) fail("an ordinary user");
    execv(program, arguments);
    fail(program);
}

/// `options` in DIRECTORY are separated by NUL; of them, `--seccomp` names the descriptor of a filter, which is written here.
static void fence(const char *directory, char **program) {
    static char text[1 << 16];
    char path[4096], *arguments[OPTION_LIMIT + 64] = {"bwrap"};
    snprintf(path, sizeof path, "%s/options", directory);
    int file = open(path, O_RDONLY), count = 1;
    ssize_t size = file < 0 ? -1 : read(file, text, sizeof text);
    if (size <= 0 || size == sizeof text) fail(path);
    close(file);
    for (char *at = text; at < text + size && count < OPTION_LIMIT; at += strlen(at) + 1) {
        arguments[count++] = at;
        if (strcmp(arguments[count - 2], "--seccomp") != 0) continue;
        snprintf(path, sizeof path, "%s/fd-%d", directory, atoi(at));
        int made = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        if (made < 0 || write(made, filter, filter_size) != (ssize_t)filter_size) fail(path);
        close(made);
    }
    open_descriptors(directory);
    arguments[count++] = "--";
    for (; *program != NULL && count < OPTION_LIMIT + 63; program++) arguments[count++] = *program;
    run("/usr/bin/bwrap", arguments);
}

int main(int count, char **arguments) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    filter_size = clinux_seccomp_filter(filter, sizeof filter);
    if (filter_size > sizeof filter) fail("the filter's size");
    if (count > 1 && strcmp(arguments[1], "calls") == 0) return calls();
    if (count > 3 && strcmp(arguments[1], "fence") == 0) fence(arguments[2], arguments + 3);
    if (count > 2 && strcmp(arguments[1], "first") == 0) return first(arguments + 2);
    if (count > 2 && strcmp(arguments[1], "ordinary") == 0) run(arguments[2], arguments + 2);
    if (count > 1 && strcmp(arguments[1], "-u") == 0) return printf("%d\n", (int)geteuid()) < 0;
    fprintf(stderr, "usage: arm64_guest calls | fence DIRECTORY PROGRAM… | first PROGRAM… | ordinary PROGRAM… | -u\n");
    return 64;
}
