import Basics
import Execution
import JobProtocol
import Logging
import Model
import Storage

/// Jobs that outlive their integration.
extension JobRunner {
    /// Ends what a daemon before this one left of an integration that comes to its end without it, as of one that is left alone: nobody brings
    /// these jobs to their end any more. Their slots and workspaces are given back when nothing of them runs. Call it before each end is
    /// stored, so that a daemon which is killed in between is followed by one that does it again.
    /// - Throws: What leaves the integration as it is: `CancellationError` when the daemon stops, and what the store cannot take for the moment.
    func endLeft(of id: IntegrationID) async throws {
        guard running.isLeft(id) else { return }
        do {
            for attempt in try await store.attempts(of: id) where attempt.state.verdict == nil {
                try await end(left: attempt.id)
            }
        } catch let error where error is CancellationError || Task.isCancelled || mustWait(after: error) {
            throw error
        } catch {
            logger.warning(
                "what was left of an integration could not be ended",
                metadata: ["integration": "\(id)", "error": "\(error)"])
        }
        running.forgetLeft(id)
    }

    private func end(left id: AttemptID) async throws {
        let (directory, reason) = (directory(of: id), "its integration ended without it")
        if try await executor.liveness(of: directory) == .notStarted {
            // It has neither; a daemon before this one may have asked for its start.
            try await launcher.withdraw(directory, because: reason)
        } else {
            try await launcher.end(directory, because: reason)
            running.end(id)
            let job = await lane.run { try? directory.job() }
            let isLost = try await executor.liveness(of: directory) == .lost
            if let workspace = job.flatMap({ Workspace(tree: $0.workspace) }) {
                if isLost { try await discard(workspace) }
                await giveBack(workspace)
            } else if isLost {
                try await discardWorkspaces(of: id)
            }
        }
        try await finish(id, verdict: .internalError, reason: reason)
    }
}
