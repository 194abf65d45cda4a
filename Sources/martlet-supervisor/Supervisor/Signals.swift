import CLinux
import Glibc
import JobProtocol
import Processes

/// The signals that this process receives. They are read from a descriptor instead of interrupting it.
final class Signals {
    let descriptor: Int32
    /// Whether SIGTERM, SIGINT or SIGHUP was received from a process that does not belong to the job.
    private(set) var isTerminationRequested = false
    /// The job's processes that sent one of these signals since `takeSenders` was last called.
    private var senders: [Int32] = []

    init() { descriptor = clinux_signal_descriptor() }

    /// Reads the received signals. The caller reaps its children in any case, since this does not report SIGCHLD.
    func read() {
        // struct signalfd_siginfo has 128 bytes. The first four are the signal's number, and the four from offset 12 are the sender (signalfd(2)).
        while case .success(let record?) = Descriptor.readOnce(descriptor, limit: 128) {
            guard record.first != UInt8(SIGCHLD), record.count >= 16 else { continue }
            let sender = record[12..<16].reversed().reduce(Int32(0)) { $0 << 8 | Int32($1) }
            if Self.isOfTheJob(sender) { senders.append(sender) } else { isTerminationRequested = true }
        }
    }

    /// Returns and forgets the job's processes that sent a signal. Such a signal, for example `kill $PPID` in a script without a sandbox, is not a
    /// request to end the job.
    func takeSenders() -> [Int32] {
        defer { senders = [] }
        return senders
    }

    /// Returns whether a process belongs to the job. False for a sender that has ended: its signal is obeyed.
    private static func isOfTheJob(_ sender: Int32) -> Bool {
        var next = sender
        // Limited, because the chain of parents may change meanwhile.
        for _ in 0..<1000 {
            guard next > 1, let entry = ProcessTable.entry(of: next) else { return false }
            if entry.parent == getpid() { return true }
            next = entry.parent
        }
        return false
    }
}
