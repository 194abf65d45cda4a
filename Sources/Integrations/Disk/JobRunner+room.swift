import Basics
import Logging
import Model
import SourceControl
import Storage

/// What jobs do where the disk is full: they wait, and what filled it goes.
extension JobRunner {
    /// How often a job is made ready where the disk ran full meanwhile.
    static let maximumPreparations = 3

    /// There is no room, and nobody waits until there is.
    struct NoRoom: Error, CustomStringConvertible {
        let words: String
        var description: String { "\(words); make room there and run it again" }
    }

    /// Waits until the disk has room for one more job. Why it waits is stored, as far as that can be.
    /// - Throws: `NoRoom` where a person waits for the end of it; `CancellationError`.
    func awaitRoom(for id: IntegrationID) async throws {
        var isExplained = false
        while let words = await disk.look().shortage {
            guard outlastsStore else { throw NoRoom(words: words) }
            // Each time: what begins meanwhile says nothing of it.
            await store.explainWait(of: id, "waits: \(words)", logger)
            isExplained = true
            try await timer.sleep(for: Scheduler.pause)
        }
        if isExplained { await store.explainWait(of: id, nil, logger) }
    }

    /// Whether what could not be made ready is to be made ready once more, since the disk was full. Whatever is in the workspace goes before.
    func mustPrepareAgain(_ workspace: Workspace, after error: any Error, tries: Int) async -> Bool {
        guard tries < Self.maximumPreparations, error is SourceControlError || error is FileError,
            (error as? SourceControlError)?.code != .canceled, !Task.isCancelled, await disk.isShort()
        else { return false }
        logger.warning(
            "a job is made ready once more", metadata: ["workspace": "\(workspace.path)", "error": "\(error)"])
        do {
            try await discard(workspace)
            return true
        } catch {
            return false
        }
    }

    /// Empties a workspace whose job has ended with the disk full, before anything else is stored, fetched or checked out: there is room again for
    /// that.
    func emptyIfFull(_ workspace: Workspace) async {
        guard await disk.isShort() else { return }
        logger.warning("a workspace is emptied, since the disk is full", metadata: ["path": "\(workspace.path)"])
        do {
            try await lane.run { try workspace.empty() }
        } catch {
            logger.warning(
                "a workspace could not be emptied", metadata: ["path": "\(workspace.path)", "error": "\(error)"])
        }
        _ = await disk.look()
    }
}
