/// Calls for starting, watching and ending processes that Swift cannot make by itself.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// inotify_init1(2). Closed on exec, not blocking; -1 when no instance is left.
int clinux_watch(void);

/// inotify_add_watch(2): on a file for what is written to it, on a directory for what is made in it or moved there, and on
/// both for their end. -1 when it is not there or no watch is left.
int clinux_watch_add(int watch, const char *path, int is_directory);

/// inotify_rm_watch(2).
int clinux_watch_remove(int watch, int descriptor);

/// Starts a thread that writes a new number into `file` every so many milliseconds, for as long as this process lives. A process on another machine
/// that sees the same file knows by it that this one is alive. If a file `end` is made, the thread sends this process SIGTERM, once.
/// - Returns: 0, or the error's number.
int clinux_begin_heartbeat(const char *file, const char *end, int milliseconds);

/// Blocks SIGTERM, SIGINT and SIGHUP in the calling thread and in those that it starts. They stay pending, also for a program that replaces this one
/// (execve(2)).
/// - Returns: 0, or the error's number.
int clinux_block_termination(void);

/// Whether a blocked SIGTERM has arrived.
int clinux_termination_is_pending(void);

/// fork(2). The caller has one thread.
pid_t clinux_fork(void);

/// What a process and the children it waited for used.
typedef struct clinux_usage {
    int64_t user_milliseconds;
    int64_t system_milliseconds;
    int64_t maximum_resident_bytes;
} clinux_usage;

/// wait4(2) for one process (or any, -1), without waiting.
pid_t clinux_reap(pid_t process, int *status, clinux_usage *usage);

/// The same, waiting.
pid_t clinux_wait(pid_t process, int *status, clinux_usage *usage);

/// The effective user of the process at the other end of a unix socket; -1 when unknown.
int clinux_peer_user(int descriptor);

/// Returns the process at the other end of a Unix socket, as it was when it connected; 0 if it is in another process namespace.
pid_t clinux_peer_process(int descriptor);

/// A signalfd(2) for SIGTERM, SIGINT, SIGHUP and SIGCHLD, which are blocked; SIGPIPE is ignored. Closed on exec, not blocking.
int clinux_signal_descriptor(void);

/// An anonymous file for passing bytes to a child: memfd_create(2). Not closed on exec.
int clinux_memory_file(const char *name);

/// This process gets a signal when the thread ends that started it: prctl(2), PR_SET_PDEATHSIG. It lasts over an exec.
int clinux_end_with_parent(int signal);

/// Signals as a program expects to find them: none blocked, all with their default action.
void clinux_reset_signals(void);

/// How a command is started.
typedef struct clinux_spawn_request {
    char *const *arguments;
    char *const *environment;
    /// Its working directory, open.
    int directory;
    int output;
    int errors;
    /// Descriptors that become 3, 4 …; at most 20.
    const int *keep;
    size_t keep_count;
    /// `tasks` or `cgroup.procs` of the control groups it moves itself to, open.
    const int *groups;
    size_t group_count;
    /// The directory, open, of the control group of version 2 in which it is made; it moves itself to none then. 0: there is none, or
    /// the kernel is to be asked for no such thing.
    int birthplace;
    /// The user and the group it becomes, with no others; -1: as its parent's.
    int64_t user;
    int64_t group;
    /// It keeps no capability, as root none but CAP_SETFCAP.
    int drops_capabilities;
    /// RLIMIT_FSIZE and RLIMIT_NPROC; -1: as its parent's.
    int64_t file_bytes;
    int64_t processes;
    /// RLIMIT_AS; 0: as its parent's.
    int64_t address_bytes;
    /// RLIMIT_NOFILE; 0: as its parent's.
    int64_t open_files;
    /// RLIMIT_SIGPENDING and RLIMIT_MSGQUEUE; 0: inherited from the parent.
    int64_t pending_signals;
    int64_t message_bytes;
    /// Of `clinux_gate`: it becomes the command only when that is opened. 0: at once.
    int gate;
} clinux_spawn_request;

/// Why a command was not started: it does not exist or cannot be executed, or an earlier step failed, which is not the command's fault.
enum { CLINUX_SPAWN_NO_COMMAND = -1, CLINUX_SPAWN_FAULT = -2 };

/// Starts a command: a new session, standard input from /dev/null, the given output and errors, no other descriptor but
/// those to keep, no blocked signal, no core, umask 022. It gets SIGKILL when the calling thread ends.
/// - Returns: Its process identifier; or one of the two above, with the error's number in `failure`.
pid_t clinux_spawn(const clinux_spawn_request *request, int *failure);

/// Its first half, which makes the process and does not wait for it to become the command.
/// - Returns: As `clinux_spawn`, but for what only the second half knows; in `told` what that needs.
pid_t clinux_spawn_begin(const clinux_spawn_request *request, int *told, int *failure);

/// Its second half.
/// - Returns: As `clinux_spawn`.
pid_t clinux_spawn_end(pid_t child, int told, int *failure);

/// What a process can be held up by, closed on exec: eventfd(2). -1 when no descriptor is left.
int clinux_gate(void);

/// Lets one process through, or ends its wait without.
/// - Returns: 0, or -1.
int clinux_gate_open(int gate, int passes);

/// Waits until the gate is opened.
/// - Returns: Whether to pass.
int clinux_gate_wait(int gate);

/// Starts a program that is to end with us: posix_spawn(3) in a new session, with no blocked signal and no other descriptor
/// than the given standard input, the given standard output and our standard error. Safe with other threads.
/// - Returns 0, or the error's number.
int clinux_spawn_attached(pid_t *process, const char *path, char *const arguments[], int input, int output);

/// Becomes another program in which `keep[i]` is descriptor 3 + i and no other descriptor above 2 is open. Returns only on failure.
void clinux_become(const char *path, char *const arguments[], char *const environment[], const int keep[], size_t count);

/// pipe2(2), closed on exec; the end for reading does not block, the end for writing does.
int clinux_pipe(int ends[2]);

/// How many processors this process may run on (sched_getaffinity(2)); 1 if that cannot be told.
int clinux_processor_count(void);

/// No core of this process, and no look into it by others of its user: prctl(2), PR_SET_DUMPABLE.
int clinux_hide_memory(void);

/// What descends from this process becomes its child when its own parent dies: prctl(2), PR_SET_CHILD_SUBREAPER.
int clinux_adopt_orphans(void);

/// From now on a fault of the process itself (SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT) sets the first byte of a file before it ends the
/// process: to 2 if its thread answers a request, else to 1. If the thread's stack is full and it has no other stack, no byte is written.
/// - Parameter answering: Called on that thread, in the signal's handler: whether its task answers a request.
void clinux_note_traps(int file, int (*answering)(void));

/// Sets whether the calling thread answers a request, and returns the previous value.
int clinux_answer_here(int is_answer);

/// Whether the calling thread answers a request.
int clinux_answers_here(void);

/// Before that file is closed.
void clinux_forget_traps(int file);

/// Pieces of 1 MiB and more are the kernel's again when they are freed. Left alone, malloc keeps up to 32 MiB for each arena after the first such
/// piece (mallopt(3), M_MMAP_THRESHOLD), and a daemon that read one large body stays as large.
void clinux_give_memory_back(void);

/// What `ps` and `top` call this process; the first 15 bytes: prctl(2), PR_SET_NAME.
int clinux_name_process(const char *name);

/// What /proc/PID/cmdline says from now on, in place of the arguments that the process was started with and, cut, in no more room than
/// they had. The arguments themselves are gone. The kernel reads it as setproctitle(3) does it (fs/proc/base.c, get_mm_cmdline).
void clinux_set_title(const char *title);

/// Resources that the kernel counts for all processes of a user together.
enum { CLINUX_SHARE_PIPES = 1, CLINUX_SHARE_EPOLL = 2, CLINUX_SHARE_INOTIFY = 4, CLINUX_SHARE_WATCHES = 8 };

/// Tries to allocate one more of each resource.
/// - Returns: The exhausted ones, as bits. A pipe counts as exhausted if it is smaller than usual (pipe(7)).
int clinux_exhausted_shares(void);

/// Counts the lines of /proc/PID/fdinfo/FD beyond those of every file: one for each watch of an epoll or inotify instance (proc_pid_fdinfo(5)).
int64_t clinux_count_watches(pid_t process, int descriptor);

/// kcmp(2), KCMP_FILE: whether two descriptors refer to the same open file. 0 also if that cannot be determined.
int clinux_is_same_file(pid_t process, int descriptor, pid_t other, int others_descriptor);

/// The caller's hard limits RLIMIT_SIGPENDING and RLIMIT_MSGQUEUE; INT64_MAX if there is none.
int64_t clinux_most_pending_signals(void);
int64_t clinux_most_message_bytes(void);

/// Returns the free memory of small allocations to the kernel: malloc_trim(3). Takes some milliseconds.
void clinux_trim_memory(void);

/// Creates a file without a name in a directory, for reading and writing, closed on exec: open(2), O_TMPFILE. On a file system without that,
/// creates a file and removes its name at once. Returns -1 on failure, with `errno`.
int clinux_nameless_file(const char *directory);
