import Basics
import CLinux
import Glibc
import JobProtocol

extension AttemptDirectory {
    /// Whether a supervisor on this machine lives, by its lock: who it names, and then whether it is held.
    /// What is no status of ours says nothing; the lock still does.
    /// - Throws: `.directory`.
    package func liveness() throws(ExecutionError) -> Liveness {
        // Who the lock names is asked first: trying the lock could get into the way of a supervisor that is about to
        // take it.
        let isLocked = try lockOwner()?.isAlive ?? false ? true : try isLockHeld()
        // Only now: what the supervisor wrote before it let go of the lock is there.
        if try isFinished() { return .finished }
        return isLocked ? .running : try hasStatus() ? .lost : .notStarted
    }

    private func isFinished() throws(ExecutionError) -> Bool {
        do throws(ExecutionError) {
            return try status().last?.isFinished ?? false
        } catch {
            guard error.code == .malformed else { throw error }
            return false
        }
    }

    /// Asks it to end, by the process that the lock names, never by a number alone. Nothing happens when it has ended.
    func signalSupervisor() {
        // An unreadable lock is that of a supervisor which has not begun; it looks for the cancel file before each step.
        guard let owner = try? lockOwner() else { return }
        let descriptor = clinux_pidfd_open(owner.pid, 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        // Now that the descriptor holds on to whatever has this number. Where /proc is mounted with hidepid, a supervisor is hidden from
        // its own user too: then the lock, which is held, says that it is the one that the lock names.
        let isHidden = ProcessTable.entry(of: owner.pid) == nil
        guard owner.isAlive || (isHidden && (try? isLockHeld()) == true) else { return }
        clinux_pidfd_send_signal(descriptor, SIGTERM)
        // One that was stopped takes nothing else before.
        clinux_pidfd_send_signal(descriptor, SIGCONT)
    }

    /// Writes the request that must be there before the signal.
    /// - Throws: `.directory`.
    package func writeCancel(reason: String, grace: Duration) throws(ExecutionError) {
        let milliseconds = max(
            0, grace.components.seconds * 1000 + grace.components.attoseconds / 1_000_000_000_000_000)
        let request = CancelRequest(reason: String(reason.prefix(1000)), graceMilliseconds: milliseconds)
        do throws(FileError) {
            try AtomicFile.write(request.json(), to: paths.cancel)
        } catch {
            throw ExecutionError(.directory, "cancel \(path)", error.message, underlying: error)
        }
    }

    private func lockOwner() throws(ExecutionError) -> LockContent? {
        let bytes = try readIfPresent(paths.lock, limit: 4096) ?? []
        return LockContent(String(decoding: bytes, as: UTF8.self))
    }

    private func hasStatus() throws(ExecutionError) -> Bool {
        access(paths.status, F_OK) == 0
    }

    private func isLockHeld() throws(ExecutionError) -> Bool {
        let descriptor = clinux_open(paths.lock, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0)
        guard descriptor >= 0 else {
            if errno == ENOENT { return false }
            throw ExecutionError(.directory, "open \(paths.lock)", String(cString: strerror(errno)))
        }
        defer { close(descriptor) }
        while clinux_flock(descriptor, LOCK_SH | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return true }
            guard errno == EINTR else {
                throw ExecutionError(.directory, "try \(paths.lock)", String(cString: strerror(errno)))
            }
        }
        return false
    }
}
