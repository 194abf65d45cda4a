#define _GNU_SOURCE
#include "CLinuxAnswering.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/// Of a thread that answers, in nanoseconds.
#define SLICE (100 * 1000)
/// In microseconds. The kernel looks with its ticks, 1 to 10 ms apart, and takes no less than one.
#define FIRST_FOR (20 * 1000)
/// After which threads may go first again, in nanoseconds.
#define PAUSE (1000 * 1000 * 1000LL)
/// More threads than event loops, of which there is one a processor, need not go first.
#define MOST_THREADS 256

/// sched_setattr(2): the first version of its struct, which the C library has not and the kernel's header cannot define beside it.
struct scheduling {
    uint32_t size, policy;
    uint64_t flags;
    int32_t niceness;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

/// In nanoseconds; 0 is what the kernel chooses. What cannot be changed stays: nothing depends on it but how soon.
static void set_slice(pid_t thread, uint64_t slice) {
    struct scheduling attributes = {.size = sizeof attributes};
    if (syscall(SYS_sched_getattr, thread, &attributes, sizeof attributes, 0u) != 0) return;
    // Of other policies the number means something else.
    if (attributes.policy != SCHED_OTHER && attributes.policy != SCHED_BATCH) return;
    attributes.runtime = slice;
    if (syscall(SYS_sched_setattr, thread, &attributes, 0u) != 0) errno = 0;
}

static atomic_bool may_go_first;
/// Those that went first since the process began; 0 where there is none yet.
static _Atomic pid_t threads[MOST_THREADS];
/// When they were made ordinary, by CLOCK_MONOTONIC; 0 while they need not be.
static _Atomic int64_t ended_at;
/// This thread has gone first since then.
static _Thread_local int64_t first_since = -1;

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/// - Returns: 0 where the process would be killed before it is told (at the hard limit).
static int limit_time(void) {
    struct rlimit time;
    if (getrlimit(RLIMIT_RTTIME, &time) != 0 || time.rlim_max <= 2 * FIRST_FOR) return 0;
    time.rlim_cur = FIRST_FOR;
    return setrlimit(RLIMIT_RTTIME, &time) == 0;
}

/// SIGXCPU: one has run for too long. Which one need not be known, and this can be another's thread. Calls of the kernel alone, since a
/// signal may come anywhere (signal-safety(7)).
static void be_ordinary(int signal) {
    int number = errno;
    (void)signal;
    struct sched_param ordinary = {0};
    for (int index = 0; index < MOST_THREADS && threads[index] != 0; index++) {
        // The kernel asks for a privilege to take the flag away.
        syscall(SYS_sched_setscheduler, threads[index], SCHED_OTHER | SCHED_RESET_ON_FORK, &ordinary);
        set_slice(threads[index], SLICE);
    }
    ended_at = now();
    // The kernel has moved it by a second (check_thread_timers in kernel/time/posix-cpu-timers.c).
    limit_time();
    errno = number;
}

void clinux_answer_soon(void) {
    DIR *tasks = opendir("/proc/self/task");
    if (tasks == NULL) return;
    for (struct dirent *entry; (entry = readdir(tasks)) != NULL;) {
        pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);
        if (thread > 0) set_slice(thread, SLICE);
    }
    closedir(tasks);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = be_ordinary;
    action.sa_flags = SA_RESTART;
    may_go_first = sigaction(SIGXCPU, &action, NULL) == 0 && limit_time();
}

/// - Returns: 0 where there is no room for one more.
static int remember(pid_t thread) {
    for (int index = 0; index < MOST_THREADS; index++) {
        pid_t free = 0;
        if (atomic_compare_exchange_strong(&threads[index], &free, thread) || free == thread) return 1;
    }
    return 0;
}

void clinux_answer_first(void) {
    if (!may_go_first) return;
    int64_t ended = ended_at;
    if (first_since == ended) return;
    // The first time there was no end before.
    if (ended != 0 && now() - ended < PAUSE) return;
    first_since = ended;
    pid_t thread = (pid_t)syscall(SYS_gettid);
    if (!remember(thread)) return;
    // The signal goes to who has run too long, if that one takes it; a pool's thread and what it made may take none.
    sigset_t limit;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXCPU);
    pthread_sigmask(SIG_UNBLOCK, &limit, NULL);
    struct sched_param first = {.sched_priority = sched_get_priority_min(SCHED_RR)};
    syscall(SYS_sched_setscheduler, thread, SCHED_RR | SCHED_RESET_ON_FORK, &first);
}

void clinux_answer_as_usual(void) {
    set_slice(0, 0);
    struct rlimit limit;
    if (getrlimit(RLIMIT_RTTIME, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_RTTIME, &limit);
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_RTPRIO, &none);
}
