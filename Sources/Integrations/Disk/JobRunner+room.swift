import Basics
import Logging
import Model
import SourceControl
import Storage

/// Handling of a full disk: jobs wait, and the files that filled it are removed.
extension JobRunner {
    /// How often a job is prepared if the disk fills up meanwhile.
    static let maximumPreparations = 3

    /// There is no room, and the caller does not wait for it.
    struct NoRoom: Error, CustomStringConvertible {
        let words: String
        var description: String { "\(words); make room there and run it again" }
    }

    /// Waits until the disk has room for one more job. Stores the reason of the wait, as far as it can be stored.
    /// - Throws: `NoRoom` if a user waits for the result; `CancellationError`.
    func awaitRoom(for id: IntegrationID) async throws {
        var isExplained = false
        while let words = await disk.look().shortage {
            guard outlastsStore else { throw NoRoom(words: words) }
            // Each time: starting work removes the reason.
            await store.explainWait(of: id, "waits: \(words)", logger)
            isExplained = true
            try await timer.sleep(for: Scheduler.pause)
        }
        if isExplained { await store.explainWait(of: id, nil, logger) }
    }

    /// Whether a failed preparation is to be repeated because the disk was full. The workspace is emptied first.
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

    /// Empties a workspace whose job has ended with the disk full, before anything else is stored, fetched or checked out, so that these have room
    /// again.
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
