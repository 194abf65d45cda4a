import CLinux
import Glibc

/// Holds a step's command back until the beginning of the step is on disk. Its process and its sandbox are created meanwhile.
///
/// A process that waits at the gate ends when the supervisor is killed, like everything that the supervisor starts.
struct Gate {
    let descriptor: Int32

    init(descriptor: Int32) { self.descriptor = descriptor }

    /// Creates a gate. Returns `nil` if no descriptor is left; `errno` has the reason.
    init?() {
        descriptor = clinux_gate()
        guard descriptor >= 0 else { return nil }
    }

    /// Lets the waiting process become its command, or makes it exit. The process may arrive later.
    func open(_ passes: Bool) { clinux_gate_open(descriptor, passes ? 1 : 0) }

    func close() { Glibc.close(descriptor) }
}
