import Basics
import CLibGit2
package import Model

/// Reads files of commits for pages. It has a handle and a queue of its own, so that a reader does not wait for a fetch of the same mirror. It makes
/// and repairs nothing.
package struct MirrorReader: Sendable {
    private let store: MirrorStore
    private let queue: SerialQueue

    init(store: MirrorStore, queue: SerialQueue) {
        self.store = store
        self.queue = queue
    }

    /// Returns the files that the mirror has.
    /// - Parameters:
    ///   - paths: Paths from the root. Links, directories and files that do not exist are left out.
    ///   - limit: The largest file, in bytes; larger ones are left out.
    ///   - until: Returns whether to stop, for example because the client has left. It is asked before each file.
    package func files(
        _ paths: [String], at commit: CommitID, limit: Int, until isLate: @escaping @Sendable () -> Bool
    ) async -> [String: [UInt8]] {
        let store = store
        return await queue.run {
            var files: [String: [UInt8]] = [:]
            guard !store.isEmpty, (try? LibGit2.start()) != nil, let handle = try? store.opened() else { return files }
            let reading = CommitReading(
                repository: handle.pointer, operation: "reading files of \(commit.abbreviated)")
            for path in paths where !isLate() {
                files[path] = (try? reading.file(path, at: commit, limit: limit)) ?? nil
            }
            return files
        }
    }
}

extension Mirrors {
    /// Returns a reader of a repository's mirror.
    package func reader(of url: RemoteURL) -> MirrorReader {
        let mirror = mirror(of: url)
        return MirrorReader(store: mirror.store, queue: reading)
    }
}
