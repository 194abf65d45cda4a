#define _GNU_SOURCE
#include "CLinuxProcess.h"

#include <dirent.h>
#include <malloc.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char *first_argument;
static size_t arguments_size;

// glibc hands main's arguments to constructors.
__attribute__((constructor)) static void find_arguments(int count, char **arguments) {
    if (count < 1) return;
    first_argument = arguments[0];
    arguments_size = (size_t)(arguments[count - 1] - arguments[0]) + strlen(arguments[count - 1]) + 1;
}

void clinux_set_title(const char *title) {
    if (arguments_size < 3) return;
    size_t size = strlen(title);
    if (size > arguments_size - 2) size = arguments_size - 2;
    memset(first_argument, 0, arguments_size);
    memcpy(first_argument, title, size);
    // No zero at the very end: that is how the kernel knows.
    first_argument[arguments_size - 1] = ' ';
}

int clinux_processor_count(void) {
    // The kernel refuses a set that is smaller than its own (EINVAL); it is built for at most 8,192 processors.
    enum { MOST = 8192 };
    cpu_set_t *set = CPU_ALLOC(MOST);
    size_t size = CPU_ALLOC_SIZE(MOST);
    if (set == NULL) return 1;
    CPU_ZERO_S(size, set);
    int count = sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 1;
    CPU_FREE(set);
    return count > 0 ? count : 1;
}

int clinux_watch(void) { return inotify_init1(IN_CLOEXEC | IN_NONBLOCK); }

int clinux_watch_add(int watch, const char *path, int is_directory) {
    uint32_t file = IN_MODIFY | IN_DELETE_SELF | IN_MOVE_SELF;
    uint32_t directory = IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_ONLYDIR;
    return inotify_add_watch(watch, path, is_directory ? directory : file);
}

int clinux_watch_remove(int watch, int descriptor) { return inotify_rm_watch(watch, descriptor); }

static volatile int trap_file = -1;
static int (*volatile is_answering)(void);
static volatile sig_atomic_t is_noting;
static struct sigaction before[65];
static _Thread_local int answers;

int clinux_answer_here(int is_answer) {
    int was = answers;
    answers = is_answer;
    return was;
}

int clinux_answers_here(void) { return answers; }

static void note_trap(int signal) {
    if (trap_file >= 0 && pwrite(trap_file, "\1", 1, 0) < 0) errno = 0;
    // Asks only after the byte is written: a fault while asking leaves the mark as it is.
    if (trap_file >= 0 && !is_noting) {
        is_noting = 1;
        if ((answers || (is_answering && is_answering())) && pwrite(trap_file, "\2", 1, 0) < 0) errno = 0;
    }
    // What comes next is what would have come, when this returns: also for a signal that somebody sent, which is not raised once more.
    sigaction(signal, &before[signal], NULL);
    raise(signal);
}

void clinux_note_traps(int file, int (*answering)(void)) {
    const int signals[] = {SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT};
    trap_file = file;
    is_answering = answering;
    for (size_t index = 0; index < sizeof signals / sizeof signals[0]; index++) {
        struct sigaction action, now;
        memset(&action, 0, sizeof action);
        action.sa_handler = note_trap;
        action.sa_flags = SA_ONSTACK;
        if (sigaction(signals[index], NULL, &now) != 0 || now.sa_handler == note_trap) continue;
        before[signals[index]] = now;
        sigaction(signals[index], &action, NULL);
    }
}

void clinux_forget_traps(int file) {
    if (trap_file == file) trap_file = -1;
}

void clinux_give_memory_back(void) { mallopt(M_MMAP_THRESHOLD, 1 << 20); }

void clinux_trim_memory(void) { malloc_trim(0); }

int clinux_nameless_file(const char *directory) {
    int file = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT)) return file;
    char path[4096];
    if (snprintf(path, sizeof path, "%s/.spool-XXXXXX", directory) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    file = mkostemp(path, O_CLOEXEC);
    if (file >= 0) unlink(path);
    return file;
}

pid_t clinux_fork(void) { return fork(); }

static pid_t wait_for(pid_t process, int *status, clinux_usage *usage, int options) {
    struct rusage used;
    pid_t ended = wait4(process, status, options, &used);
    if (ended > 0) {
        usage->user_milliseconds = used.ru_utime.tv_sec * 1000 + used.ru_utime.tv_usec / 1000;
        usage->system_milliseconds = used.ru_stime.tv_sec * 1000 + used.ru_stime.tv_usec / 1000;
        usage->maximum_resident_bytes = used.ru_maxrss * 1024;
    }
    return ended;
}

pid_t clinux_reap(pid_t process, int *status, clinux_usage *usage) {
    return wait_for(process, status, usage, WNOHANG);
}

pid_t clinux_wait(pid_t process, int *status, clinux_usage *usage) { return wait_for(process, status, usage, 0); }

int clinux_peer_user(int descriptor) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return -1;
    return (int)peer.uid;
}

pid_t clinux_peer_process(int descriptor) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ? 0 : peer.pid;
}

int clinux_signal_descriptor(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGCHLD);
    signal(SIGPIPE, SIG_IGN);
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0) return -1;
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int clinux_memory_file(const char *name) { return memfd_create(name, 0); }

void clinux_become(const char *path, char *const arguments[], char *const environment[], const int keep[], size_t count) {
    // First away from where they are to go, so that none overwrites another.
    int away[8];
    if (count > 8) return;
    for (size_t i = 0; i < count; i++) {
        away[i] = fcntl(keep[i], F_DUPFD, 64);
        if (away[i] < 0) return;
    }
    for (size_t i = 0; i < count; i++) {
        if (dup2(away[i], 3 + (int)i) < 0) return;
    }
    syscall(SYS_close_range, 3u + (unsigned int)count, ~0u, 4u);
    clinux_reset_signals();
    execve(path, arguments, environment);
}

int clinux_pipe(int ends[2]) {
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    return fcntl(ends[0], F_SETFL, O_NONBLOCK);
}

int clinux_hide_memory(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

int clinux_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

int clinux_name_process(const char *name) { return prctl(PR_SET_NAME, name, 0, 0, 0); }

int clinux_spawn_attached(pid_t *process, const char *path, char *const arguments[], int input, int output) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, 0);
    posix_spawn_file_actions_adddup2(&actions, output, 1);
    posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
    int result = posix_spawn(process, path, &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return result;
}
