import Basics
import CLinux
import Glibc

/// Kills a child with its process group when it has not ended after a while.
package final class ProcessWatch: Sendable {
    private let limit: Duration
    private let state = Locked<(wait: Task<Void, Never>?, hasKilled: Bool)>((nil, false))

    package init(limit: Duration) { self.limit = limit }

    /// Whether it did not end in time.
    package var hasKilled: Bool { state.value.hasKilled }

    /// - Parameter pid: A child, the first of its process group.
    package func begin(_ pid: Int32) {
        let descriptor = clinux_pidfd_open(pid, 0)
        guard descriptor >= 0 else { return }
        let milliseconds = Int32(
            clamping: limit.components.seconds * 1000 + limit.components.attoseconds / 1_000_000_000_000_000)
        let wait = Task { [self] in
            await BlockingLane(label: "process").run { [self] in
                defer { close(descriptor) }
                // It becomes readable when the process ends (pidfd_open(2)).
                var source = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                guard poll(&source, 1, milliseconds) == 0 else { return }
                state.withLock { $0.hasKilled = true }
                kill(-pid, SIGKILL)
            }
        }
        state.withLock { $0.wait = wait }
    }

    /// Awaits the watch's own end, which comes with the process's.
    package func end() async { await state.value.wait?.value }

    /// Whether a child has not ended. Of one that was collected the number may be somebody else's by now.
    package static func isRunning(_ pid: Int32) -> Bool {
        var told = siginfo_t()
        // Where it has not ended, nothing is filled in (waitid(2)).
        return waitid(P_PID, id_t(pid), &told, WEXITED | WNOHANG | WNOWAIT) == 0 && told.si_signo == 0
    }
}
