import Basics
import Execution
import JobProtocol
import Logging
package import Model
import SourceControl
import Storage

/// What becomes of workspaces, and of the commits that were checked out in them.
extension JobRunner {
    /// Frees a workspace in which no process runs any more. A fork's workspace is removed first, unless the daemon stops: it may have started a
    /// process in it.
    package func giveBack(_ workspace: Workspace) async {
        if workspace.isThrowaway, !Task.isCancelled {
            do {
                try await remove(workspace)
            } catch {
                // It is tried again before the next job gets it, or at the next start.
                logger.warning(
                    "a workspace could not be removed", metadata: ["path": "\(workspace.path)", "error": "\(error)"])
            }
        }
        await workspaces.giveBack(workspace)
    }

    /// Marks the workspaces and the slots of jobs that a daemon before this one started, before any other job may take them.
    package func retake(of integrations: [IntegrationID]) async throws {
        var lost: [AttemptID] = []
        for id in integrations {
            guard let integration = try await store.integration(id) else { continue }
            for attempt in try await store.attempts(of: id) where attempt.state.verdict == nil {
                let directory = directory(of: attempt.id)
                let liveness = try await executor.liveness(of: directory)
                running.noteLeft(id)
                await lane.run { AtomicFile.removeLeft(in: directory.path) }
                guard liveness != .notStarted else { continue }
                if liveness == .running { running.takeUp(attempt.id, Self.claim(of: integration)) }
                do {
                    let job = try await lane.run { try directory.job() }
                    if let workspace = Workspace(tree: job.workspace) { await workspaces.retake(workspace) }
                } catch let error as ExecutionError where error.code == .malformed || error.code == .notFound {
                    // It runs nowhere; it is found lost when it is taken up.
                    if liveness == .lost { lost.append(attempt.id) }
                }
            }
        }
        // When all used workspaces are known: nothing records in which of the others a lost job ran.
        for id in lost { await doubtWorkspaces(of: id) }
    }

    private func doubtWorkspaces(of id: AttemptID) async {
        let (root, bot, configuration) = (state.workspaces, id.integration.bot, id.job)
        let found = await lane.run { Workspace.found(in: root, bot: "\(bot)", configuration: "\(configuration)") }
        await workspaces.doubt(found, bot: bot, configuration: configuration)
    }

    /// Removes each unused workspace in which a lost job may have run.
    func discardWorkspaces(of id: AttemptID) async throws {
        await doubtWorkspaces(of: id)
        for workspace in await workspaces.takeDoubtful(bot: id.integration.bot, configuration: id.job) {
            try await discard(workspace)
            await workspaces.giveBack(workspace)
        }
    }

    /// Takes the workspaces that an earlier daemon left and that must not be reused: forks' and those moved aside. Removes the partial files that
    /// the daemon was writing beside any workspace when it was killed. Call it when those of running jobs are taken, and before any other job
    /// begins.
    package func takeLeftWorkspaces() async -> [Workspace] {
        let root = state.workspaces
        let found = await lane.run { () -> [Workspace] in
            let found = Workspace.all(in: root)
            for workspace in found {
                for place in [workspace.path, workspace.state] { AtomicFile.removeLeft(in: place) }
            }
            return found
        }
        return await workspaces.takeLeft(of: found)
    }

    func remove(_ workspace: Workspace) async throws {
        let root = state.workspaces
        try await lane.run { try workspace.remove(beneath: root) }
    }

    /// How often a workspace is tried to be removed before it is moved aside, a second apart: processes of a job whose supervisor was
    /// lost end by a signal of the kernel's or the launcher's, and may write until then.
    static let maximumRemovals = 5

    /// Removes a workspace, so that the next job begins in a new one. If it cannot be removed, it is moved aside and removed at the next start.
    /// - Throws: `FileError` if it cannot even be moved.
    func discard(_ workspace: Workspace) async throws {
        for _ in 1..<Self.maximumRemovals {
            if try await isRemoved(workspace) { return }
            try await timer.sleep(for: .seconds(1))
        }
        if try await isRemoved(workspace) { return }
        let (root, path) = (state.workspaces, workspace.relative(to: state.workspaces))
        let number = clock.now().millisecondsSinceEpoch
        try await lane.run {
            let directory = try Directory(opening: root)
            let parent = path.split(separator: "/").dropLast().joined(separator: "/")
            try directory.rename(path, to: directory, "\(parent)/.gone-\(number)", replace: false)
        }
    }

    private func isRemoved(_ workspace: Workspace) async throws -> Bool {
        do {
            try await remove(workspace)
            return true
        } catch let error as FileError {
            logger.warning(
                "a workspace could not be removed", metadata: ["path": "\(workspace.path)", "error": "\(error)"])
            return false
        }
    }

    func hold(_ request: Request, after begun: Wakeup) async {
        for await _ in begun.rings { break }
        let id = request.integration.id
        do {
            try await request.mirror.hold(request.integration.commit, for: id)
        } catch {
            // What the job came to is not lost by it.
            logger.warning("a commit could not be held", metadata: ["integration": "\(id)", "error": "\(error)"])
        }
    }

    /// Removes what tools left in their temporary directory and in the job's home; the next preparation would too.
    func clear(_ workspace: Workspace) async {
        await lane.run {
            guard let outer = try? Directory(opening: workspace.path) else { return }
            try? outer.makeEmptyDirectory("tmp", mode: 0o700)
            try? outer.remove(Workspace.homeName)
        }
    }
}
