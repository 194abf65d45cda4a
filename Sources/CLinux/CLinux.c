#define _GNU_SOURCE

#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

const int clinux_o_path = O_PATH;
const int clinux_f_setpipe_sz = F_SETPIPE_SZ;

int clinux_open_beneath(int directory, const char *path, int flags, unsigned int mode) {
    struct open_how how;
    memset(&how, 0, sizeof how);
    how.flags = (uint64_t)(unsigned int)flags;
    how.mode = mode;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
    return (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
}

int clinux_open(const char *path, int flags, unsigned int mode) { return open(path, flags, mode); }

int clinux_openat(int directory, const char *path, int flags, unsigned int mode) {
    return openat(directory, path, flags, mode);
}

int clinux_renameat2(int from, const char *old_path, int to, const char *new_path, unsigned int flags) {
    return (int)syscall(SYS_renameat2, from, old_path, to, new_path, flags);
}

ssize_t clinux_getdents(int directory, void *buffer, size_t size) {
    return syscall(SYS_getdents64, directory, buffer, size);
}

ssize_t clinux_copy_file_range(int from, int to, size_t count) {
    return copy_file_range(from, NULL, to, NULL, count, 0);
}

int clinux_pidfd_open(pid_t process, unsigned int flags) {
    return (int)syscall(SYS_pidfd_open, process, flags);
}

int clinux_pidfd_send_signal(int descriptor, int signal) {
    return (int)syscall(SYS_pidfd_send_signal, descriptor, signal, NULL, 0);
}

int clinux_close_range(unsigned int first, unsigned int last, unsigned int flags) {
    return (int)syscall(SYS_close_range, first, last, flags);
}

int clinux_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {
    return prctl(option, a, b, c, d);
}

int clinux_fcntl(int descriptor, int command, int argument) {
    return fcntl(descriptor, command, argument);
}

int clinux_flock(int descriptor, int operation) { return flock(descriptor, operation); }

struct clinux_syncing {
    pthread_t thread;
    int descriptor;
    char *directory;
};

static void *synchronize(void *argument) {
    clinux_syncing *syncing = argument;
    if (fsync(syncing->descriptor) != 0) return (void *)(intptr_t)errno;
    if (syncing->directory == NULL) return NULL;
    int directory = open(syncing->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return (void *)(intptr_t)errno;
    int number = fsync(directory) == 0 ? 0 : errno;
    close(directory);
    return (void *)(intptr_t)number;
}

clinux_syncing *clinux_sync_begin(int descriptor, const char *directory) {
    // It calls the kernel three times: 64 KiB of a stack are plenty, of which a page or two are touched.
    enum { STACK_BYTES = 64 << 10 };
    pthread_attr_t attributes;
    clinux_syncing *syncing = calloc(1, sizeof *syncing);
    if (syncing == NULL || pthread_attr_init(&attributes) != 0) {
        free(syncing);
        return NULL;
    }
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    syncing->descriptor = descriptor;
    syncing->directory = directory == NULL ? NULL : strdup(directory);
    int is_begun = (directory == NULL || syncing->directory != NULL)
        && pthread_create(&syncing->thread, &attributes, synchronize, syncing) == 0;
    pthread_attr_destroy(&attributes);
    if (is_begun) return syncing;
    free(syncing->directory);
    free(syncing);
    return NULL;
}

int clinux_sync_end(clinux_syncing *syncing) {
    void *number = NULL;
    pthread_join(syncing->thread, &number);
    free(syncing->directory);
    free(syncing);
    return (int)(intptr_t)number;
}

int clinux_ioctl(int descriptor, unsigned long request, unsigned long argument) {
    return ioctl(descriptor, request, argument);
}

int clinux_wait_has_exited(int status) { return WIFEXITED(status); }
int clinux_wait_exit_status(int status) { return WEXITSTATUS(status); }
int clinux_wait_was_signaled(int status) { return WIFSIGNALED(status); }
int clinux_wait_signal(int status) { return WTERMSIG(status); }
const char *clinux_signal_name(int signal) { return sigabbrev_np(signal); }

int clinux_setfsuid(uid_t user) { return setfsuid(user); }

void clinux_begin_writeback(int descriptor, int64_t offset, int64_t count) {
    sync_file_range(descriptor, offset, count, SYNC_FILE_RANGE_WRITE);
}
