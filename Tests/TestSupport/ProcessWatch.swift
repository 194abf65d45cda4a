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
        let wait = Task { [self] in
            // Ended earlier, it is canceled.
            guard (try? await Task.sleep(for: limit)) != nil, Self.isRunning(pid) else { return }
            state.withLock { $0.hasKilled = true }
            kill(-pid, SIGKILL)
        }
        state.withLock { $0.wait = wait }
    }

    /// Nothing is killed from now on.
    package func end() { state.value.wait?.cancel() }

    /// Whether a child has not ended. Of one that was collected the number may be somebody else's by now.
    package static func isRunning(_ pid: Int32) -> Bool {
        var told = siginfo_t()
        // Where it has not ended, nothing is filled in (waitid(2)).
        return waitid(P_PID, id_t(pid), &told, WEXITED | WNOHANG | WNOWAIT) == 0 && told.si_signo == 0
    }
}
