package import Basics
import Glibc

/// Workspaces on the disk.
extension Workspace {
    /// Returns the workspaces of a configuration.
    static func found(in root: String, bot: String, configuration: String) -> [Workspace] {
        let place = "\(root)/\(bot)/\(configuration)"
        return names(in: place).flatMap { domain in
            names(in: "\(place)/\(domain)").map { Workspace(path: "\(place)/\(domain)/\($0)") }
        }
    }

    /// Returns all workspaces.
    package static func all(in root: String) -> [Workspace] {
        names(in: root).flatMap { bot in
            names(in: "\(root)/\(bot)").flatMap { found(in: root, bot: bot, configuration: $0) }
        }
    }

    /// Returns all workspaces, least recently used first.
    package static func leastRecentlyUsed(in root: String) -> [Workspace] {
        all(in: root).map { (workspace: $0, used: $0.lastUsed) }.sorted { $0.used < $1.used }.map(\.workspace)
    }

    /// The last time at which a file beside the tree was written, as each checkout and each job does, in seconds since 1970. 0 if it cannot be read.
    package var lastUsed: Int {
        [path, state].reduce(0) { latest, place in
            var status = stat()
            return stat(place, &status) == 0 ? max(latest, Int(status.st_mtim.tv_sec)) : latest
        }
    }

    func relative(to root: String) -> String { String(path.dropFirst(root.count + 1)) }

    /// Removes the workspace.
    package func remove(beneath root: String) throws(FileError) {
        try Directory(opening: root).remove(relative(to: root))
    }

    /// Removes everything that a job may have filled, and the record of the checkout. The next checkout starts in an empty tree.
    func empty() throws(FileError) {
        let directory = try Directory(opening: path)
        // The record of the checkout is removed first, because it states which parts of the tree are known.
        for part in ["checkout", "tree", "tmp"] { try directory.remove(part) }
    }

    /// Returns the names in a directory; empty if it is not a directory.
    private static func names(in path: String) -> [String] {
        guard let directory = try? Directory(opening: path) else { return [] }
        return (try? directory.entries())?.filter(\.isText).map(\.name) ?? []
    }
}
