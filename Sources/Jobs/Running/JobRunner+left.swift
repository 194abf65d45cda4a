import Basics
import Execution
import JobProtocol
import Logging
package import Model
import Storage

/// Jobs that outlive their integration.
extension JobRunner {
    /// Ends the jobs that an earlier daemon left of an integration, if the integration ends without them, as one that crashed the daemon does. Their
    /// slots and workspaces are released when none of their processes runs. Must be called before each end is stored, so that a daemon that is killed
    /// in between is followed by one that calls it again.
    /// - Throws: `CancellationError` if the daemon stops, and errors that make it wait for the disk. The integration then stays as it is.
    package func endLeft(of id: IntegrationID) async throws {
        guard running.isLeft(id) else { return }
        do {
            for attempt in try await store.attempts(of: id) where attempt.state.verdict == nil {
                try await end(left: attempt.id)
            }
        } catch let error where error is CancellationError || Task.isCancelled || mustWait(after: error) {
            throw error
        } catch {
            logger.warning(
                "the rest of an integration could not be ended",
                metadata: ["integration": "\(id)", "error": "\(error)"])
        }
        running.forgetLeft(id)
    }

    private func end(left id: AttemptID) async throws {
        let (directory, reason) = (directory(of: id), "its integration ended without it")
        if try await executor.liveness(of: directory) == .notStarted {
            // The job has neither a slot nor a workspace, but an earlier daemon may have requested its start.
            try await launcher.withdraw(directory, because: reason)
        } else {
            try await launcher.end(directory, because: reason)
            running.end(id)
            let job = await queue.run { try? directory.job() }
            let isLost = try await executor.liveness(of: directory) == .lost
            if let workspace = job.flatMap({ Workspace(tree: $0.workspace) }) {
                if isLost { try await discard(workspace) }
                await release(workspace)
            } else if isLost {
                try await discardWorkspaces(of: id)
            }
        }
        try await finish(id, verdict: .internalError, reason: reason)
    }
}
