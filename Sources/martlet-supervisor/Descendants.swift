import CLinux
import Glibc
import JobProtocol

/// All processes that come from this one, which is a child subreaper (prctl(2)): what a step started in a new session or
/// behind a double fork becomes a child of ours when its parent dies, so nothing gets away.
enum Descendants {
    /// How long killing may take. A process can be dead to signals only in the kernel, as on a disk that does not answer.
    static let patienceMilliseconds: Int64 = 30_000

    struct End {
        let pid: Int32
        let status: Int32
        let usage: clinux_usage
    }

    /// Collects every child that has ended.
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

    /// Sends a signal once to every process group and every process that comes from `root`.
    /// - Parameter spared: Groups to which none is sent: what holds a fence.
    static func signal(
        _ signal: Int32, of root: Int32 = getpid(), except: Set<Int32> = [], sparing spared: Set<Int32> = []
    ) {
        let own = getpgrp()
        let found = ProcessTable.descendants(of: root, except: except).filter { !spared.contains($0.group) }
        var groups: Set<Int32> = []
        for entry in found where entry.group != own && entry.group > 1 { groups.insert(entry.group) }
        // A whole group at once: the kernel lets no fork slip through (fork(2) starts again when a signal is pending).
        for group in groups { kill(-group, signal) }
        for entry in found where entry.isAlive && !groups.contains(entry.group) {
            let descriptor = clinux_pidfd_open(entry.pid, 0)
            guard descriptor >= 0 else { continue }
            // The number could be another's since we looked; the descriptor cannot.
            if ProcessTable.entry(of: entry.pid)?.startTime == entry.startTime {
                clinux_pidfd_send_signal(descriptor, signal)
            }
            close(descriptor)
        }
    }

    /// Kills and collects until none is left.
    /// - Parameters:
    ///   - milliseconds: What they have to go by themselves.
    ///   - signals: That of `Signals`, by which a child's end is told.
    ///   - whileWaiting: Called between two rounds, such as to drain what they print.
    /// - Returns: The ends of those that were children, and whether all are gone.
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
            // A child that ends makes the descriptor readable, which is told again until `whileWaiting` has read it.
            var source = pollfd(fd: signals, events: Int16(POLLIN), revents: 0)
            poll(&source, 1, 2)
        }
    }
}
