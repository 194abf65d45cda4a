/// Calls that Swift cannot make by itself: they are variadic, have no wrapper in glibc, or a struct of their name hides
/// them. Each returns what the kernel does: -1 and `errno` on failure.
///
/// Only prototypes of plain types: were `_GNU_SOURCE` defined here, structs of glibc would look different in this module
/// than in Swift's own, which the compiler refuses.
#pragma once

#include <stdint.h>
#include <sys/types.h>

/// O_PATH of open(2), which glibc declares only under `_GNU_SOURCE`.
extern const int clinux_o_path;

/// F_SETPIPE_SZ of fcntl(2), likewise.
extern const int clinux_f_setpipe_sz;

/// openat2(2) that keeps the whole path beneath `directory`: no `..` above it, no link, no magic link, no other mount.
int clinux_open_beneath(int directory, const char *path, int flags, unsigned int mode);

/// open(2) with a mode.
int clinux_open(const char *path, int flags, unsigned int mode);

/// openat(2) with a mode.
int clinux_openat(int directory, const char *path, int flags, unsigned int mode);

/// renameat2(2); `flags` as RENAME_NOREPLACE (1) or RENAME_EXCHANGE (2).
int clinux_renameat2(int from, const char *old_path, int to, const char *new_path, unsigned int flags);

/// getdents64(2): the next entries of an open directory, as `struct linux_dirent64`.
ssize_t clinux_getdents(int directory, void *buffer, size_t size);

/// copy_file_range(2), from and to the descriptors' own offsets.
ssize_t clinux_copy_file_range(int from, int to, size_t count);

/// pidfd_open(2). The descriptor is closed on exec.
int clinux_pidfd_open(pid_t process, unsigned int flags);

/// pidfd_send_signal(2).
int clinux_pidfd_send_signal(int descriptor, int signal);

/// close_range(2).
int clinux_close_range(unsigned int first, unsigned int last, unsigned int flags);

/// prctl(2) with all arguments.
int clinux_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d);

/// fcntl(2) with a whole number.
int clinux_fcntl(int descriptor, int command, int argument);

/// flock(2), which Swift sees as the struct of the same name.
int clinux_flock(int descriptor, int operation);

/// Starts writing a file to the disk and does not wait: sync_file_range(2). It gives no guarantee; fsync(2) does.
void clinux_begin_writing(int descriptor);

/// Reserves disk space for a file's first bytes and keeps its size: fallocate(2). Has no effect on a file system without it.
void clinux_reserve(int descriptor, int64_t bytes);

/// ioctl(2) with a whole number.
int clinux_ioctl(int descriptor, unsigned long request, unsigned long argument);

/// setfsuid(2): the identity by which the calling thread alone is checked when it touches files. Returns the one before.
int clinux_setfsuid(uid_t user);

/// What a wait status says, since the W… macros are not seen by Swift.
int clinux_wait_has_exited(int status);

int clinux_wait_exit_status(int status);
int clinux_wait_was_signaled(int status);
int clinux_wait_signal(int status);
/// Returns a signal's name without `SIG`, from the C library (sigabbrev_np(3), glibc 2.32); null if it has none.
const char *clinux_signal_name(int signal);

/// sync_file_range(2): tells the disk to begin with a part of a file, and does not wait. A file system that cannot is let be.
void clinux_begin_writeback(int descriptor, int64_t offset, int64_t count);

/// syncfs(2): writes all of a descriptor's file system to the disk.
int clinux_syncfs(int descriptor);

/// In a debug build: stops this process when the file that MARTLET_FAILPOINT names asks for this place. See Basics' Failpoint.
void clinux_failpoint(const char *name, const char *phase);

#include "CLinuxAnswering.h"
#include "CLinuxConfine.h"
#include "CLinuxSandbox.h"
#include "CLinuxProcess.h"
