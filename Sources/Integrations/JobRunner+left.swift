import Basics
import Execution
import JobProtocol
import Logging
import Model
import Storage

/// Jobs that outlive their integration.
extension JobRunner {
    /// Ends what a daemon before this one left of an integration whose end was stored without it, as of one that is left alone: nobody brings
    /// these jobs to their end any more. Their slots and workspaces are given back when nothing of them runs. Call it after each end.
    func endLeft(of id: IntegrationID) async {
        guard running.takeLeft(id) else { return }
        do {
            for attempt in try await store.attempts(of: id) where attempt.state.verdict == nil {
                try await end(left: attempt.id)
            }
        } catch is CancellationError {
            // The daemon stops. The next one knows nothing of these, and gives them no slot.
        } catch {
            logger.warning(
                "what was left of an integration could not be ended",
                metadata: ["integration": "\(id)", "error": "\(error)"])
        }
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
