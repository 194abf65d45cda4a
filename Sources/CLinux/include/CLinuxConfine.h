/// Starting and confining a process that reads foreign bytes.
#pragma once

#include <stdint.h>
#include <sys/types.h>

/// Starts a program that answers on its socket: posix_spawn(3) in a new session, in `/`, with an empty environment and no blocked signal. It has no
/// descriptors but the socket as standard input and output, and `errors`. Safe with other threads.
/// - Returns: 0, or the error's number.
int clinux_spawn_confined(pid_t *process, const char *path, char *const arguments[], int socket, int errors);

/// Confines this process, which has one thread, for good:
/// - its memory (RLIMIT_AS) and processor time (RLIMIT_CPU) are limited;
/// - it opens no descriptor and has none above 2, writes no core, and starts no process;
/// - it gains no privilege, and other processes of its user cannot see into it;
/// - the kernel ends it first when memory is short.
///
/// If the kernel has filters of system calls (seccomp(2)), every call answers EPERM, except what memory, the open descriptors and its own end need.
/// - Returns: 1; 0 without a filter; -1 on failure, with `errno`.
int clinux_confine(int64_t address_bytes, int64_t processor_seconds);
