#define _GNU_SOURCE
#include "CLinuxAnswering.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/// Of a thread that answers, in nanoseconds.
#define SLICE (100 * 1000)

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

void clinux_answer_soon(void) {
    DIR *tasks = opendir("/proc/self/task");
    if (tasks == NULL) return;
    for (struct dirent *entry; (entry = readdir(tasks)) != NULL;) {
        pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);
        if (thread > 0) set_slice(thread, SLICE);
    }
    closedir(tasks);
}

void clinux_answer_as_usual(void) { set_slice(0, 0); }
