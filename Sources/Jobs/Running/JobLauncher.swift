package import Basics
package import Execution
import Glibc
import JobProtocol
package import Logging
package import Model
import Storage

/// Starts and ends jobs, those of configurations and those of triggers. A job that it has given up does not run, and never will. So the caller must
/// give up a job here before it stores the job's end or reuses its directories.
package struct JobLauncher: Sendable {
    let executor: any Executor
    /// The clock for the pauses between tries.
    let timer: any Clock<Duration>
    let logger: Logger
    /// Whether it waits for a missing launcher without a limit. If not, the tries are limited as for a supervisor; that is for runs whose result a
    /// user waits for.
    private let outlastsLauncher: Bool

    package init(
        executor: any Executor, timer: any Clock<Duration>, logger: Logger, outlastsLauncher: Bool = true
    ) {
        (self.executor, self.timer, self.logger) = (executor, timer, logger)
        self.outlastsLauncher = outlastsLauncher
    }

    /// The most tries to start a supervisor before the job is given up. With the longest pauses they take four minutes, in which a machine with too
    /// many processes has room again.
    static let maximumStarts = 10

    /// Starts a job. If the launcher is gone and cannot be started, tries again until it can. If the launcher starts no supervisor, tries a limited
    /// number of times.
    /// - Parameter explain: Receives the reason why the job waits, for users, after each failed try; `nil` when it no longer waits.
    /// - Returns: `false` if the integration was canceled and no job was started.
    /// - Throws: `ExecutionError` if the job was given up; `CancellationError` if the daemon stops, in which case the job may still start.
    package func start(
        _ directory: AttemptDirectory, secrets: [String: String], _ cancellation: Cancellation,
        explain: (String?) async -> Void
    ) async throws -> Bool {
        var backoff = Self.backoff
        var (tries, starts) = (0, 0)
        while true {
            if let cancelRequest = await cancellation.requested {
                try await withdraw(directory, because: cancelRequest.reason)
                return false
            }
            do throws(ExecutionError) {
                try await executor.start(directory, secrets: secrets)
                if tries > 0 { await explain(nil) }
                return true
            } catch {
                tries += 1
                // Tries without a launcher do not count. The next launcher starts the job, however late it comes.
                if error.code != .noLauncher || !outlastsLauncher { starts += 1 }
                // A supervisor that did not start in time was killed, so the next one finds the directory unchanged.
                guard error.code == .noLauncher || error.code == .notStarted, starts < Self.maximumStarts else {
                    if tries > 1 { await explain(nil) }
                    try await withdraw(directory, because: "\(error)")
                    throw error
                }
                logger.warning(
                    "a job could not be started; Martlet tries again",
                    metadata: ["attempt": "\(directory.path)", "error": "\(error)"])
                await explain("a job waits to be started: \(error) (try \(tries), the next within 30 s)")
            }
            let (timer, pause) = (timer, backoff.next())
            _ = try await cancellation.interrupting { try await timer.sleep(for: pause) }
        }
    }

    /// Returns whether a job runs, is over, or was never started, once that is certain. An earlier daemon may have asked for its start, and a
    /// launcher that was stopped could still start it while the workspace is prepared again.
    /// - Throws: `.directory`; `.noLauncher` if the launcher does not answer and is not waited for; `CancellationError` if the daemon stops.
    package func liveness(of directory: AttemptDirectory, _ cancellation: Cancellation) async throws -> Liveness {
        var backoff = Self.backoff
        while true {
            let liveness = try await executor.liveness(of: directory)
            // A job whose directory was not prepared cannot have been started. The start of a canceled job is withdrawn elsewhere.
            guard liveness == .notStarted, access(directory.paths.job, F_OK) == 0,
                await cancellation.requested == nil
            else { return liveness }
            do throws(ExecutionError) {
                try await executor.settle(directory)
                return try await executor.liveness(of: directory)
            } catch {
                guard error.code == .noLauncher, outlastsLauncher else { throw error }
                logger.warning(
                    "it is not known yet whether a job has begun",
                    metadata: ["attempt": "\(directory.path)", "error": "\(error)"])
            }
            let (timer, pause) = (timer, backoff.next())
            _ = try await cancellation.interrupting { try await timer.sleep(for: pause) }
        }
    }

    /// Withdraws a start that may have been requested. A launcher that was stopped, or a slow supervisor, could otherwise start the job when the
    /// workspace is another job's. After this call, a late start ends before its first step.
    /// - Throws: `CancellationError` if the daemon stops.
    package func withdraw(_ directory: AttemptDirectory, because reason: String) async throws {
        var backoff = Self.backoff
        // Without this file no job can start.
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

    /// Ends a job that cannot be followed, however long that takes. While the job may still run, its end is not stored and its workspace is not
    /// reused.
    /// - Throws: `CancellationError` if the daemon stops.
    package func end(_ directory: AttemptDirectory, because reason: String) async throws {
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
        guard try await executor.liveness(of: directory).mayRun else { return }
        try await executor.cancel(directory, reason: reason, grace: Cancellation.Request.usualGrace)
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
    /// Stores why an integration waits; `nil` removes the reason. A failure to store it is only logged.
    package func explainWait(of id: IntegrationID, _ reason: String?, _ logger: Logger) async {
        do {
            try await explain([id], reason)
        } catch {
            logger.warning(
                "the reason why an integration waits could not be stored",
                metadata: ["integration": "\(id)", "error": "\(error)"])
        }
    }
}
