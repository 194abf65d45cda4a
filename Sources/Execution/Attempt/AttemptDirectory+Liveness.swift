import Basics
import CLinux
import Glibc
import JobProtocol

extension AttemptDirectory {
    /// Returns the state of the attempt's supervisor on this machine: first by the process that the lock names, then by whether the lock is held. A
    /// malformed status is ignored.
    /// - Throws: `.directory`.
    package func liveness() throws(ExecutionError) -> Liveness {
        // The process that the lock names is checked first, because trying the lock could disturb a supervisor that is about to acquire it.
        let isLocked = try lockOwner()?.isAlive ?? false ? true : try isLockHeld()
        // The status is read last, so that it includes everything that the supervisor wrote before it released the lock.
        if try isFinished() { return .finished }
        return isLocked ? .running : try hasStatus() ? .lost : .notStarted
    }

    /// Whether the last event is there. A malformed status has none.
    func isFinished() throws(ExecutionError) -> Bool {
        do throws(ExecutionError) {
            return try status().last?.isFinished ?? false
        } catch {
            guard error.code == .malformed else { throw error }
            return false
        }
    }

    /// Asks the supervisor to end by a signal to the process that the lock names, never by the process identifier alone. Has no effect if it has
    /// ended.
    func signalSupervisor() {
        // If the lock is unreadable, the supervisor has not started yet. It checks for the cancel file before each step.
        guard let owner = try? lockOwner() else { return }
        let descriptor = clinux_pidfd_open(owner.pid, 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        // The descriptor now refers to a fixed process. If /proc is mounted with hidepid, even a supervisor of the same user is hidden. A held lock
        // then proves that it is the process that the lock names.
        let isHidden = ProcessTable.entry(of: owner.pid) == nil
        guard owner.isAlive || (isHidden && (try? isLockHeld()) == true) else { return }
        clinux_pidfd_send_signal(descriptor, SIGTERM)
        // A stopped supervisor handles no signal before SIGCONT.
        clinux_pidfd_send_signal(descriptor, SIGCONT)
    }

    /// Writes the cancellation request. It must exist before the signal is sent.
    /// - Parameter grace: The time between SIGTERM and SIGKILL.
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

    /// Returns the process that the lock names; `nil` if it names none.
    /// - Throws: `.directory`.
    func lockOwner() throws(ExecutionError) -> LockContent? {
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

/// The state of an attempt's supervisor, by its lock and the last line of its status.
package enum Liveness: Sendable, Equatable {
    /// No job was launched yet.
    case notStarted
    /// A cluster has accepted the job, and it waits there. The text states why, in the cluster's words.
    case waiting(String)
    case running
    case finished
    /// The supervisor is gone without a last event. The workspace cannot be trusted.
    case lost

    /// Whether it runs or waits to run, so that it has a slot and must be ended before it is given up.
    package var mayRun: Bool {
        switch self {
        case .running, .waiting: true
        case .notStarted, .finished, .lost: false
        }
    }
}
