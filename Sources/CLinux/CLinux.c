#define _GNU_SOURCE

#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
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

void clinux_begin_writing(int descriptor) {
    int number = errno;
    // Some file systems know no such thing.
    if (sync_file_range(descriptor, 0, 0, SYNC_FILE_RANGE_WRITE) != 0) errno = number;
}

void clinux_reserve(int descriptor, int64_t bytes) {
    int number = errno;
    if (fallocate(descriptor, FALLOC_FL_KEEP_SIZE, 0, bytes) != 0) errno = number;
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

int clinux_syncfs(int descriptor) { return syncfs(descriptor); }

void clinux_begin_writeback(int descriptor, int64_t offset, int64_t count) {
    sync_file_range(descriptor, offset, count, SYNC_FILE_RANGE_WRITE);
}
