import CLinux
import Glibc

/// Holds a step's command back until its beginning is on the disk, so that its process, and its fence, are made meanwhile.
///
/// Who waits at it ends when the supervisor is killed, like everything that the supervisor starts.
struct Gate {
    let descriptor: Int32

    init(descriptor: Int32) { self.descriptor = descriptor }

    /// Nothing when no descriptor is left; `errno` says so.
    init?() {
        descriptor = clinux_gate()
        guard descriptor >= 0 else { return nil }
    }

    /// Lets the one that waits, or comes, become its command, or has it end without.
    func open(_ passes: Bool) { clinux_gate_open(descriptor, passes ? 1 : 0) }

    func close() { Glibc.close(descriptor) }
}
