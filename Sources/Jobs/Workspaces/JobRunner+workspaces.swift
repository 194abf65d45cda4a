import Basics
import Execution
import JobProtocol
import Logging
package import Model
import SourceControl
import Storage

/// Releases and removes workspaces, and keeps the commits that were checked out in them in the mirror.
extension JobRunner {
    /// Releases a workspace in which no process runs any more. A fork's workspace is removed first, unless the task is canceled because the daemon
    /// stops: a process may have been started in it.
    package func release(_ workspace: Workspace) async {
        if workspace.isThrowaway, !Task.isCancelled, !isOnNode(workspace) {
            do {
                try await remove(workspace)
            } catch {
                // The removal is tried again before the next job gets the workspace, or at the next start.
                logger.warning(
                    "a workspace could not be removed", metadata: ["path": "\(workspace.path)", "error": "\(error)"])
            }
        }
        await workspaces.release(workspace)
    }

    /// Marks the workspaces and the slots of jobs that an earlier daemon started as taken, before another job can take them.
    package func reacquire(of integrations: [IntegrationID]) async throws {
        var lost: [AttemptID] = []
        for id in integrations {
            guard let integration = try await store.integration(id) else { continue }
            for attempt in try await store.attempts(of: id) where attempt.state.verdict == nil {
                let directory = directory(of: attempt.id)
                let liveness = try await executor.liveness(of: directory)
                running.recordLeft(id)
                await queue.run { AtomicFile.removeLeft(in: directory.path) }
                guard liveness != .notStarted else { continue }
                if liveness.mayRun {
                    running.takeUp(attempt.id, Self.claim(of: integration), of: await slots(of: attempt.id))
                }
                do {
                    let job = try await queue.run { try directory.job() }
                    if let workspace = Workspace(tree: job.workspace) { await workspaces.reacquire(workspace) }
                } catch let error as ExecutionError where error.code == .malformed || error.code == .notFound {
                    // The job runs nowhere. It is found to be lost when the integration is taken up.
                    if liveness == .lost { lost.append(attempt.id) }
                }
            }
        }
        // This comes last, when all used workspaces are known, because there is no record of which workspace a lost job ran in.
        for id in lost { await doubtWorkspaces(of: id) }
    }

    private func doubtWorkspaces(of id: AttemptID) async {
        let (root, bot, configuration) = (state.workspaces, id.integration.bot, id.job)
        let found = await queue.run { Workspace.found(in: root, bot: "\(bot)", configuration: "\(configuration)") }
        await workspaces.doubt(found, bot: bot, configuration: configuration)
    }

    /// Removes each unused workspace in which a lost job may have run.
    func discardWorkspaces(of id: AttemptID) async throws {
        await doubtWorkspaces(of: id)
        for workspace in await workspaces.acquireDoubtful(bot: id.integration.bot, configuration: id.job) {
            try await discard(workspace)
            await workspaces.release(workspace)
        }
    }

    /// Takes the workspaces that an earlier daemon left and that must not be reused: those of forks, and those moved aside. Removes the partial files
    /// that the daemon was writing beside any workspace when it was killed. Must be called after those of running jobs are taken, and before another
    /// job starts.
    package func acquireLeftWorkspaces() async -> [Workspace] {
        let root = state.workspaces
        let found = await queue.run { () -> [Workspace] in
            let found = Workspace.all(in: root)
            for workspace in found {
                for place in [workspace.path, workspace.state] { AtomicFile.removeLeft(in: place) }
            }
            return found
        }
        return await workspaces.acquireLeft(of: found)
    }

    func remove(_ workspace: Workspace) async throws {
        let root = state.workspaces
        try await queue.run { try workspace.remove(beneath: root) }
    }

    /// The most tries to remove a workspace before it is moved aside, a second apart. If a job's supervisor was lost, its processes are ended by a
    /// signal of the kernel or the launcher, and may write until then.
    static let maximumRemovals = 5

    /// Removes a workspace, so that the next job begins in a new one. If it cannot be removed, it is moved aside and removed at the next start.
    /// - Throws: `FileError` if it cannot even be moved.
    func discard(_ workspace: Workspace) async throws {
        // The node empties it before the next job there, because the job that used it last has no end.
        guard !isOnNode(workspace) else { return }
        for _ in 1..<Self.maximumRemovals {
            if try await isRemoved(workspace) { return }
            try await timer.sleep(for: .seconds(1))
        }
        if try await isRemoved(workspace) { return }
        let (root, path) = (state.workspaces, workspace.relative(to: state.workspaces))
        let number = clock.now().millisecondsSinceEpoch
        try await queue.run {
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

    func hold(_ request: Request, after begun: Signal) async {
        for await _ in begun.notifications { break }
        let id = request.integration.id
        do {
            try await request.mirror.hold(request.integration.commit, for: id)
        } catch {
            // The job's results are kept all the same.
            logger.warning("a commit could not be held", metadata: ["integration": "\(id)", "error": "\(error)"])
        }
    }

    /// Removes the files that tools left in their temporary directory and in the job's home. The next preparation would remove them, too.
    func clear(_ workspace: Workspace) async {
        guard !isOnNode(workspace) else { return }
        await queue.run {
            guard let outer = try? Directory(opening: workspace.path) else { return }
            try? outer.makeEmptyDirectory("tmp", mode: 0o700)
            try? outer.remove(Workspace.homeName)
        }
    }
}
