package import Basics
import Execution
import Logging
package import Model
import SourceControl

/// Handling of a full disk: jobs wait, and the files that filled it are removed.
extension JobRunner {
    /// The most times that a job is prepared if the disk fills up meanwhile.
    package static let maximumPreparations = 3

    /// The error when there is no room and the caller does not wait for it.
    struct NoRoom: Error, CustomStringConvertible {
        let words: String
        var description: String { "\(words); make room there and run it again" }
    }

    /// Waits until the disk has room for one more job. Stores the reason of the wait, as far as it can be stored.
    /// - Throws: `NoRoom` if a user waits for the result; `CancellationError`.
    package func awaitRoom(for id: IntegrationID) async throws {
        var isExplained = false
        while let words = await disk.look().shortage {
            guard outlastsStore else { throw NoRoom(words: words) }
            // Each time: starting work removes the reason.
            await store.explainWait(of: id, "waits: \(words)", logger)
            isExplained = true
            try await timer.sleep(for: Self.pause)
        }
        if isExplained { await store.explainWait(of: id, nil, logger) }
    }

    /// Whether a job whose preparation failed is to be prepared again, because the disk was full. If so, the workspace is discarded, and the function
    /// waits until the disk has ample room again. It does not wait if a user waits for the result or cancels the job.
    func mustPrepareAgain(
        _ workspace: Workspace, after error: any Error, tries: Int, for id: IntegrationID, _ cancellation: Cancellation
    ) async -> Bool {
        guard tries < Self.maximumPreparations, !Task.isCancelled, await isOfFullDisk(error) else { return false }
        logger.warning(
            "a job is prepared again", metadata: ["workspace": "\(workspace.path)", "error": "\(error)"])
        do {
            try await discard(workspace)
            if outlastsStore { _ = try await cancellation.interrupting { try await awaitRoom(for: id) } }
            return true
        } catch {
            return false
        }
    }

    /// Performs an operation, and repeats it each time a full disk made it fail and there is ample room again.
    /// - Parameters:
    ///   - tries: The most times that it is performed.
    ///   - makingRoom: Called before the function waits; it removes what is no longer needed.
    /// - Throws: The error of the operation, if the disk was not full, a user waits for the result, or the integration is canceled meanwhile.
    package func withRoom<Value>(
        for id: IntegrationID, _ cancellation: Cancellation, tries: Int = JobRunner.maximumPreparations,
        makingRoom: () async -> Void = {}, _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch {
            guard tries > 1, outlastsStore, !Task.isCancelled, await isOfFullDisk(error) else { throw error }
            logger.warning(
                "what failed on a full disk is done again once there is room",
                metadata: ["integration": "\(id)", "error": "\(error)"])
            await makingRoom()
            guard try await cancellation.interrupting({ try await awaitRoom(for: id) }) != nil else { throw error }
        }
        return try await withRoom(for: id, cancellation, tries: tries - 1, makingRoom: makingRoom, body)
    }

    /// Whether a full disk caused an error. The free room now is no measure: the failed write may have been larger, and its file may be gone. So an
    /// error of a local disk counts as long as there is no ample room.
    private func isOfFullDisk(_ error: any Error) async -> Bool {
        switch error {
        case let error as FileError:
            if error.code == .noSpace { return await disk.mayHaveBeenShort() }
        case let error as SourceControlError:
            if error.code == .canceled { return false }
            // libgit2 has no error code of its own for a failed write.
            if [.file, .other].contains(error.code) { return await disk.mayHaveBeenShort() }
        case let error as ExecutionError:
            return error.code == .directory ? await disk.mayHaveBeenShort() : false
        case let error as any CausedError:
            guard let cause = error.underlying else { return false }
            return await isOfFullDisk(cause)
        default: return false
        }
        return await disk.isShort()
    }

    /// Empties a workspace whose job has ended while the disk is full. This happens before anything else is stored, fetched or checked out, so that
    /// there is room for that.
    func emptyIfFull(_ workspace: Workspace) async {
        if await disk.isShort() { await empty(workspace) }
    }

    /// Empties a workspace whose job has ended.
    func empty(_ workspace: Workspace) async {
        guard !isOnNode(workspace) else { return }
        logger.warning("a workspace is emptied, since the disk is full", metadata: ["path": "\(workspace.path)"])
        do {
            try await queue.run { try workspace.empty() }
        } catch {
            logger.warning(
                "a workspace could not be emptied", metadata: ["path": "\(workspace.path)", "error": "\(error)"])
        }
        _ = await disk.look()
    }
}
