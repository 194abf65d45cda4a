import Basics
package import Model

/// All executors of the settings as one. An attempt's own is the one that its `placement.json` names, also after a restart.
package struct Executors: Executor {
    private let local: any Executor
    private let clusters: [Name: any Executor]

    /// - Parameters:
    ///   - local: The executor of attempts without a `placement.json`.
    ///   - clusters: The others, by their names in the settings.
    package init(local: any Executor, clusters: [Name: any Executor]) {
        (self.local, self.clusters) = (local, clusters)
    }

    private func executor(of attempt: AttemptDirectory) async throws(ExecutionError) -> any Executor {
        let placement = try await SerialQueue(label: "placement").run { () throws(ExecutionError) in
            try attempt.placement()
        }
        guard let placement else { return local }
        guard let cluster = clusters[placement.executor] else {
            throw ExecutionError(
                .noLauncher, "find the executor \(placement.executor) of \(attempt.path)",
                "the settings have it no longer; add it again until its jobs have ended")
        }
        return cluster
    }

    /// Starts a job by its executor; see `Executor`.
    package func start(_ attempt: AttemptDirectory, secrets: [String: String]) async throws(ExecutionError) {
        try await executor(of: attempt).start(attempt, secrets: secrets)
    }

    /// Returns the state by the executor; see `Executor`.
    package func liveness(of attempt: AttemptDirectory) async throws(ExecutionError) -> Liveness {
        do throws(ExecutionError) {
            return try await executor(of: attempt).liveness(of: attempt)
        } catch {
            // An attempt that has ended needs no executor.
            guard error.code == .noLauncher, try attempt.liveness() == .finished else { throw error }
            return .finished
        }
    }

    /// Waits for earlier requests to the executor; see `Executor`.
    package func settle(_ attempt: AttemptDirectory) async throws(ExecutionError) {
        try await executor(of: attempt).settle(attempt)
    }

    /// Asks a running attempt to end; see `Executor`.
    package func cancel(
        _ attempt: AttemptDirectory, reason: String, grace: Duration
    ) async throws(ExecutionError) {
        try await executor(of: attempt).cancel(attempt, reason: reason, grace: grace)
    }

    /// Returns how the executor ended an attempt; see `Executor`.
    package func ending(of attempt: AttemptDirectory) async -> ExecutorEnding? {
        // Without its executor nothing is known but what the job itself wrote.
        await (try? executor(of: attempt))?.ending(of: attempt)
    }
}
