import Basics
import Execution
import Glibc
import JobProtocol
import Logging
import Model
import Storage

/// Starts and ends jobs, those of configurations and those of triggers alike. What it gives up runs no more and never will: whoever
/// stores the end of a job, or gives its directories to another, does so after this.
struct JobLauncher: Sendable {
    let executor: any Executor
    /// For the pauses between tries.
    let timer: any Clock<Duration>
    let logger: Logger
    /// Whether a launcher that is gone is waited for, however long; else as for a supervisor, where people wait for the end of it.
    var outlastsLauncher = true

    /// Tries to start a supervisor before its job is given up: with the longest pauses four minutes, in which a machine that had too many
    /// processes has room again.
    static let maximumStarts = 10

    /// Starts a job; where the launcher is gone and none can be started, tries again until one can, and some times where it starts no
    /// supervisor.
    /// - Parameter explain: Gets why the job waits, for people, after each try that failed; nothing when it waits no more.
    /// - Returns: Nothing was started when the integration is canceled.
    /// - Throws: `ExecutionError` when it was given up; `CancellationError` when the daemon stops, and it may begin yet.
    func start(
        _ directory: AttemptDirectory, secrets: [String: String], _ cancellation: Cancellation,
        explain: (String?) async -> Void
    ) async throws -> Bool {
        var backoff = Self.backoff
        var (tries, starts) = (0, 0)
        while true {
            if let wish = await cancellation.requested {
                try await withdraw(directory, because: wish.reason)
                return false
            }
            do throws(ExecutionError) {
                try await executor.start(directory, secrets: secrets)
                if tries > 0 { await explain(nil) }
                return true
            } catch {
                tries += 1
                // Of a launcher that is gone none counts: the next one starts the job, as late as it comes.
                if error.code != .noLauncher || !outlastsLauncher { starts += 1 }
                // A supervisor that did not begin in time was killed: the next one finds the directory as that one did.
                guard error.code == .noLauncher || error.code == .notStarted, starts < Self.maximumStarts else {
                    if tries > 1 { await explain(nil) }
                    try await withdraw(directory, because: "\(error)")
                    throw error
                }
                logger.warning(
                    "a job could not be started; it is tried again",
                    metadata: ["attempt": "\(directory.path)", "error": "\(error)"])
                await explain("a job waits to be started: \(error) (try \(tries), the next within 30 s)")
            }
            let (timer, pause) = (timer, backoff.next())
            _ = try await cancellation.interrupting { try await timer.sleep(for: pause) }
        }
    }

    /// Whether a job runs, is over, or was never started; once that is sure: a daemon before this one may have asked for its start, and a
    /// launcher that stood still take that yet, when the workspace is being made ready for it again.
    /// - Throws: `.directory`, and `.noLauncher` where a launcher that does not answer is not waited for; `CancellationError` when the
    ///   daemon stops.
    func liveness(of directory: AttemptDirectory, _ cancellation: Cancellation) async throws -> Liveness {
        var backoff = Self.backoff
        while true {
            let liveness = try await executor.liveness(of: directory)
            // Nobody can have asked for what was not prepared. Of one that is canceled the start is withdrawn.
            guard liveness == .notStarted, access(directory.paths.job, F_OK) == 0,
                await cancellation.requested == nil
            else { return liveness }
            do throws(ExecutionError) {
                try await executor.settle()
                return try await executor.liveness(of: directory)
            } catch {
                guard error.code == .noLauncher, outlastsLauncher else { throw error }
                logger.warning(
                    "whether a job has begun is not known yet",
                    metadata: ["attempt": "\(directory.path)", "error": "\(error)"])
            }
            let (timer, pause) = (timer, backoff.next())
            _ = try await cancellation.interrupting { try await timer.sleep(for: pause) }
        }
    }

    /// Gives up a start that may have been asked for: a launcher that stood still may take what it was asked, and a slow supervisor may
    /// begin, when the workspace is another job's. Whoever comes so late ends before the first step.
    /// - Throws: `CancellationError` when the daemon stops.
    func withdraw(_ directory: AttemptDirectory, because reason: String) async throws {
        var backoff = Self.backoff
        // Without it there is nothing that could begin.
        while access(directory.paths.job, F_OK) == 0 {
            do throws(ExecutionError) {
                try await executor.cancel(directory, reason: reason, grace: .zero)
                break
            } catch {
                try await wait(&backoff, after: error, directory)
            }
        }
        try await end(directory, because: reason)
    }

    /// Ends a job that cannot be followed, however long that takes: of what may run still no end is stored, and its workspace is nobody's.
    /// - Throws: `CancellationError` when the daemon stops.
    func end(_ directory: AttemptDirectory, because reason: String) async throws {
        var backoff = Self.backoff
        while true {
            do {
                return try await stop(directory, because: reason)
            } catch {
                try await wait(&backoff, after: error, directory)
            }
        }
    }

    private func stop(_ directory: AttemptDirectory, because reason: String) async throws {
        guard try await executor.liveness(of: directory) == .running else { return }
        try await executor.cancel(directory, reason: reason, grace: Cancellation.Wish.usualGrace)
        do {
            for try await _ in AttemptFollower(executor: executor).events(of: directory) {}
        } catch let error as ExecutionError where error.code == .lost {
            return
        }
    }

    private static var backoff: Backoff { Backoff(first: .seconds(1), limit: .seconds(30)) }

    private func wait(
        _ backoff: inout Backoff, after error: any Error, _ directory: AttemptDirectory
    ) async throws {
        if Task.isCancelled || error is CancellationError { throw CancellationError() }
        logger.warning(
            "a job could not be stopped", metadata: ["attempt": "\(directory.path)", "error": "\(error)"])
        try await timer.sleep(for: backoff.next())
    }
}

extension Store {
    /// Says why an integration waits, or nothing any more. Where that cannot be stored it waits all the same.
    func explainWait(of id: IntegrationID, _ reason: String?, _ logger: Logger) async {
        do {
            try await explain([id], reason)
        } catch {
            logger.warning(
                "why an integration waits could not be stored", metadata: ["integration": "\(id)", "error": "\(error)"])
        }
    }
}
