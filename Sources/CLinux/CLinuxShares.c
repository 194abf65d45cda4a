#define _GNU_SOURCE
#include "CLinuxProcess.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/// The default capacity of a pipe (pipe(7)).
enum { USUAL_PIPE_BYTES = 65536 };

static int exhausted(int pipe) {
    int found = fcntl(pipe, F_GETPIPE_SZ) < USUAL_PIPE_BYTES ? CLINUX_SHARE_PIPES : 0;
    struct epoll_event event = {.events = EPOLLIN};
    int poll = epoll_create1(EPOLL_CLOEXEC);
    if (poll >= 0 && epoll_ctl(poll, EPOLL_CTL_ADD, pipe, &event) != 0 && errno == ENOSPC) found |= CLINUX_SHARE_EPOLL;
    if (poll >= 0) close(poll);
    // EMFILE can also mean the process's own descriptors, of which there was one just before.
    int watch = poll < 0 ? -1 : inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (watch < 0 && poll >= 0 && errno == EMFILE) found |= CLINUX_SHARE_INOTIFY;
    if (watch < 0) return found;
    if (inotify_add_watch(watch, "/", IN_DELETE_SELF) < 0 && errno == ENOSPC) found |= CLINUX_SHARE_WATCHES;
    close(watch);
    return found;
}

int clinux_exhausted_shares(void) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return 0;
    int found = exhausted(ends[0]);
    close(ends[0]);
    close(ends[1]);
    return found;
}

int64_t clinux_count_watches(pid_t process, int descriptor) {
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", process, descriptor);
    FILE *file = fopen(path, "re");
    if (file == NULL) return 0;
    int64_t count = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        count += strncmp(line, "tfd:", 4) == 0 || strncmp(line, "inotify ", 8) == 0;
    }
    fclose(file);
    return count;
}

int clinux_is_same_file(pid_t process, int descriptor, pid_t other, int others_descriptor) {
    return syscall(SYS_kcmp, process, other, KCMP_FILE, descriptor, others_descriptor) == 0;
}

static int64_t most(int resource) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0 || limit.rlim_max > INT64_MAX) return INT64_MAX;
    return (int64_t)limit.rlim_max;
}

int64_t clinux_most_pending_signals(void) { return most(RLIMIT_SIGPENDING); }
int64_t clinux_most_message_bytes(void) { return most(RLIMIT_MSGQUEUE); }
