/// Starting and confining a process that reads what others wrote.
#pragma once

#include <stdint.h>
#include <sys/types.h>

/// Starts a program that answers on the socket that it is asked on: posix_spawn(3) in a new session, in `/`, with an empty environment, no
/// blocked signal, and no other descriptor than the socket as standard input and output and `errors`. Safe with other threads.
/// - Returns: 0, or the error's number.
int clinux_spawn_confined(pid_t *process, const char *path, char *const arguments[], int socket, int errors);

/// Confines this process, which has one thread, for good: its memory (RLIMIT_AS) and processor time (RLIMIT_CPU) have limits, it opens no
/// descriptor and has none above 2, writes no core, is seen by no other process of its user, starts nothing, gains no privilege, and is the
/// first that the kernel ends when memory is short. Where the kernel has filters of system calls (seccomp(2)), all but what memory, the open
/// descriptors and its own end need is answered with EPERM.
/// - Returns: 1; 0 without a filter; -1 on failure, with `errno`.
int clinux_confine(int64_t address_bytes, int64_t processor_seconds);
