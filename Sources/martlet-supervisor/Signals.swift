import CLinux
import Glibc
import JobProtocol

/// The signals that this process is told of, read from a descriptor instead of interrupting it.
final class Signals {
    let descriptor: Int32
    /// SIGTERM, SIGINT or SIGHUP came, and not from a process of the job's.
    private(set) var isTerminationRequested = false
    /// Processes of the job's that sent one, since somebody asked.
    private var senders: [Int32] = []

    init() { descriptor = clinux_signal_descriptor() }

    /// Takes in what came; after SIGCHLD the caller reaps, whether or not this says so.
    func read() {
        // struct signalfd_siginfo has 128 bytes, of which the first four are the number, and four from the twelfth who sent it (signalfd(2)).
        while case .success(let record?) = Descriptor.readOnce(descriptor, limit: 128) {
            guard record.first != UInt8(SIGCHLD), record.count >= 16 else { continue }
            let sender = record[12..<16].reversed().reduce(Int32(0)) { $0 << 8 | Int32($1) }
            if Self.isOfTheJob(sender) { senders.append(sender) } else { isTerminationRequested = true }
        }
    }

    /// What a job's processes sent, which is nobody's wish to end it: without a fence, `kill $PPID` in a script.
    func takeSenders() -> [Int32] {
        defer { senders = [] }
        return senders
    }

    /// Of one that has gone since nothing is known, and it is heeded.
    private static func isOfTheJob(_ sender: Int32) -> Bool {
        var next = sender
        // A chain that changes while it is followed ends, too.
        for _ in 0..<1000 {
            guard next > 1, let entry = ProcessTable.entry(of: next) else { return false }
            if entry.parent == getpid() { return true }
            next = entry.parent
        }
        return false
    }
}
