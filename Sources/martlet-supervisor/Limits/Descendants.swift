import CLinux
import Glibc
import JobProtocol

/// All descendants of this process. It is a child subreaper (prctl(2)): a process that a step started in a new session, or behind a double fork,
/// becomes its child when the parent dies. No process can therefore escape.
enum Descendants {
    /// How long killing may take. A process ignores signals only while it is inside the kernel, such as during access to a disk that does not
    /// respond.
    static let patienceMilliseconds: Int64 = 30_000

    struct End {
        let pid: Int32
        let status: Int32
        let usage: clinux_usage
    }

    /// Reaps every child that has ended.
    static func reap() -> (ended: [End], isEmpty: Bool) {
        var ended: [End] = []
        while true {
            var status: Int32 = 0
            var usage = clinux_usage()
            let pid = clinux_reap(-1, &status, &usage)
            if pid > 0 {
                ended.append(End(pid: pid, status: status, usage: usage))
            } else if pid == 0 {
                return (ended, false)
            } else if errno != EINTR {
                return (ended, true)
            }
        }
    }

    /// Sends a signal once to every process group and every process that descends from `root`.
    /// - Parameters:
    ///   - except: Processes that are left out, with their descendants.
    ///   - spared: Process groups to which no signal is sent: those of the processes that hold the sandbox.
    static func signal(
        _ signal: Int32, of root: Int32 = getpid(), except: Set<Int32> = [], sparing spared: Set<Int32> = []
    ) {
        let own = getpgrp()
        let found = ProcessTable.descendants(of: root, except: except).filter { !spared.contains($0.group) }
        var groups: Set<Int32> = []
        for entry in found where entry.group != own && entry.group > 1 { groups.insert(entry.group) }
        // A whole group at once: the kernel does not let a fork escape (fork(2) is restarted when a signal is pending).
        for group in groups { kill(-group, signal) }
        for entry in found where entry.isAlive && !groups.contains(entry.group) {
            let descriptor = clinux_pidfd_open(entry.pid, 0)
            guard descriptor >= 0 else { continue }
            // The process number may have been reused since; the descriptor cannot.
            if ProcessTable.entry(of: entry.pid)?.startTime == entry.startTime {
                clinux_pidfd_send_signal(descriptor, signal)
            }
            close(descriptor)
        }
    }

    /// Kills and reaps until no process is left.
    /// - Parameters:
    ///   - milliseconds: The time that the processes have to end by themselves.
    ///   - signals: The descriptor of `Signals`, which reports the end of a child.
    ///   - whileWaiting: Called between two rounds, for example to drain the output.
    /// - Returns: The ends of the children, and whether all processes are gone.
    static func killAll(
        after milliseconds: Int64 = 0, wokenBy signals: Int32 = -1, whileWaiting: () -> Void = {}
    ) -> (ended: [End], isEmpty: Bool) {
        let start = Time.monotonicMilliseconds()
        var all: [End] = []
        while true {
            let (ended, isEmpty) = reap()
            all += ended
            if isEmpty { return (all, true) }
            let spent = Time.monotonicMilliseconds() - start
            if spent > patienceMilliseconds { return (all, false) }
            if spent >= milliseconds { signal(SIGKILL) }
            whileWaiting()
            // The end of a child makes the descriptor readable until `whileWaiting` has read it.
            var source = pollfd(fd: signals, events: Int16(POLLIN), revents: 0)
            poll(&source, 1, 2)
        }
    }
}
