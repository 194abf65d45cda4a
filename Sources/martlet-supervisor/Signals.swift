import CLinux
import Glibc

/// The signals that this process is told of, read from a descriptor instead of interrupting it.
final class Signals {
    let descriptor: Int32
    /// SIGTERM, SIGINT or SIGHUP came.
    private(set) var isTerminationRequested = false

    init() { descriptor = clinux_signal_descriptor() }

    /// Takes in what came; after SIGCHLD the caller reaps, whether or not this says so.
    func read() {
        // struct signalfd_siginfo has 128 bytes, the first four are the number (signalfd(2)).
        while case .success(let record?) = Descriptor.readOnce(descriptor, limit: 128) {
            if record.first != UInt8(SIGCHLD) { isTerminationRequested = true }
        }
    }
}
