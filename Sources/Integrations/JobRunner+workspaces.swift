import Basics
import Logging
import Model
import SourceControl
import Storage

/// What becomes of workspaces, and of the commits that were checked out in them.
extension JobRunner {
    /// Frees a workspace of which nothing runs any more; one of a fork's is removed before, but for a daemon that stops, which may have
    /// started something in it.
    package func giveBack(_ workspace: Workspace) async {
        if workspace.isThrowaway, !Task.isCancelled {
            do {
                try await remove(workspace)
            } catch {
                // It is tried again before the next job gets it.
                logger.warning(
                    "a workspace could not be removed", metadata: ["path": "\(workspace.path)", "error": "\(error)"])
            }
        }
        await workspaces.giveBack(workspace)
    }

    /// Takes the workspaces of forks in which a daemon before this one was ended; call it when those of running jobs are taken.
    package func takeLeftWorkspaces() async -> [Workspace] {
        let root = state.workspaces
        let found = await lane.run { () -> [Workspace] in
            guard let directory = try? Directory(opening: root) else { return [] }
            func names(_ path: String) -> [String] {
                (try? directory.entries(path))?.filter(\.isText).map(\.name) ?? []
            }
            var found: [Workspace] = []
            for bot in names(".") {
                for configuration in names(bot) {
                    let lane = "\(bot)/\(configuration)/\(Workspaces.Lane.fork.rawValue)"
                    found += names(lane).map { Workspace(path: "\(root)/\(lane)/\($0)") }
                }
            }
            return found
        }
        return await workspaces.takeLeft(of: found)
    }

    func remove(_ workspace: Workspace) async throws {
        let (root, path) = (state.workspaces, String(workspace.path.dropFirst(state.workspaces.count + 1)))
        try await lane.run { try Directory(opening: root).remove(path) }
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

    /// Removes what tools left in their temporary directory; the next preparation would too.
    func clear(_ workspace: Workspace) async {
        await lane.run { try? Directory(opening: workspace.path).makeEmptyDirectory("tmp", mode: 0o700) }
    }
}
