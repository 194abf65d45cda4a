import Basics
import CLinux
import Glibc

/// Kills a child with its process group if it has not exited after a while.
package final class ProcessWatch: Sendable {
    private let limit: Duration
    private let state = Locked<(wait: Task<Void, Never>?, hasKilled: Bool)>((nil, false))

    package init(limit: Duration) { self.limit = limit }

    /// Whether it killed the child, which did not exit in time.
    package var hasKilled: Bool { state.value.hasKilled }

    /// Starts the watch.
    /// - Parameter pid: A child that leads its process group.
    package func begin(_ pid: Int32) {
        let descriptor = clinux_pidfd_open(pid, 0)
        guard descriptor >= 0 else { return }
        let milliseconds = Int32(
            clamping: limit.components.seconds * 1000 + limit.components.attoseconds / 1_000_000_000_000_000)
        let wait = Task { [self] in
            await SerialQueue(label: "process").run { [self] in
                defer { close(descriptor) }
                // The descriptor becomes readable when the process exits (pidfd_open(2)).
                var source = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                guard poll(&source, 1, milliseconds) == 0 else { return }
                state.withLock { $0.hasKilled = true }
                kill(-pid, SIGKILL)
            }
        }
        state.withLock { $0.wait = wait }
    }

    /// Waits until the watch ends, which it does when the process exits.
    package func end() async { await state.value.wait?.value }

    /// Whether a child has not exited. After a child is reaped its number may belong to another process.
    package static func isRunning(_ pid: Int32) -> Bool {
        var notified = siginfo_t()
        // If the child has not exited, the structure is not filled in (waitid(2)).
        return waitid(P_PID, id_t(pid), &notified, WEXITED | WNOHANG | WNOWAIT) == 0 && notified.si_signo == 0
    }
}
