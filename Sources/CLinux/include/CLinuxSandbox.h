/// What a sandbox is made of that Swift cannot say by itself.
#pragma once

#include <stddef.h>

/// The most bytes of `clinux_seccomp_filter`.
#define CLINUX_SECCOMP_LIMIT 4096

/// Writes the system call filter of a sandboxed step as classic BPF (seccomp(2)), an array of `struct sock_filter`. Nothing is
/// killed: what is not to be is answered with EPERM, ENOSYS or EAFNOSUPPORT, so that programs can do without.
/// - Returns: The program's size, even where it is larger than `size`; then the bytes are not all there.
size_t clinux_seccomp_filter(void *bytes, size_t size);

/// Has a network namespace send nothing to the loopback's addresses through any interface but its own loopback, and nothing to what a
/// cloud tells its machine: rules of routes (ip-rule(8)), made by a process that enters the namespaces. The caller has one thread.
/// - Parameter owner: The network's user namespace, open; the network's own likewise.
/// - Returns: 0, or an error's number; EOPNOTSUPP and EAFNOSUPPORT where the kernel has no such rules.
int clinux_forbid_destinations(int owner, int network);
