import Basics
import Model

/// The records beside a workspace's tree, and the directories that a job expects in it. They are the same on the machine and on a cluster's nodes.
extension Workspace {
    /// When it was last emptied; `nil` if there is no record, or it cannot be read.
    var lastCleaned: Timestamp? {
        guard let bytes = try? WholeFile.read(cleaned, limit: 64) else { return nil }
        return Int64(String(decoding: bytes, as: UTF8.self)).map(Timestamp.init(millisecondsSinceEpoch:))
    }

    /// Whether its files were built under other paths or in another image. The workspace is then emptied once.
    func isMoved(mark: String) -> Bool {
        // Without a record, the workspace is new or from a version before the sandbox, when jobs saw it at its own path.
        let before = (try? WholeFile.read(mounted, limit: 4096)).map { String(decoding: $0, as: UTF8.self) }
        return mark != before ?? tree
    }

    /// Records a checkout.
    /// - Parameters:
    ///   - isFresh: Whether the tree was emptied.
    ///   - mark: See `JobRunner.Place.mark`.
    /// - Throws: `FileError`.
    func recordCheckout(isFresh: Bool, mark: String, at now: Timestamp) throws {
        if isFresh {
            try AtomicFile.write(Array("\(now.millisecondsSinceEpoch)".utf8), to: cleaned, surviving: .kill)
            // The earlier build products are gone, so the warnings stored for them are removed, too.
            try Directory(opening: path).remove("warnings.json")
        }
        if isMoved(mark: mark) { try AtomicFile.write(Array(mark.utf8), to: mounted, surviving: .kill) }
    }

    /// Makes the directories that a job expects, and empties those of the job before.
    /// - Throws: `FileError`.
    func makeRoom(isSandboxed: Bool) throws {
        let (outer, inner) = (try Directory(opening: path), try Directory(opening: tree))
        // A job, or the repository itself, may have put a file or a link at this path.
        if let own = try inner.status(JobPlanner.ownDirectory), own.kind != .directory {
            try inner.remove(JobPlanner.ownDirectory)
        }
        try inner.remove(JobPlanner.ownDirectory + "/products")
        try inner.makeEmptyDirectory(JobPlanner.ownDirectory + "/test")
        try outer.makeEmptyDirectory("tmp", mode: 0o700)
        if isSandboxed { try outer.makeEmptyDirectory(Workspace.homeName, mode: 0o700) }
    }
}
