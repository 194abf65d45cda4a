import Archives
import Basics
import Execution
import Foundation
import Model

/// The directory of one working tree in `$XDG_CACHE_HOME/martlet/run`. It has the layout of a daemon's state directory, with a few more files. Lost
/// files are created again.
struct RunCache: Sendable {
    let state: StateDirectory

    /// The age in seconds after which an unused cache is removed: 30 days.
    static let maximumAge: Int64 = 30 * 86_400
    private static let directoryFile = "directory"

    /// - Parameters:
    ///   - root: The root of the working tree.
    ///   - caches: The directory of all caches, `…/martlet/run`.
    init(of root: String, in caches: String) {
        let name = Name(nearest: root.split(separator: "/").last ?? "root")
        let digest = Digest.sha256(of: Array(root.utf8)).prefix(16)
        state = StateDirectory(path: "\(caches)/\(name)-\(digest)")
    }

    /// The service's repository with the tree's snapshots.
    var snapshots: String { state.path + "/snapshots.git" }
    private var last: String { state.path + "/last.json" }
    private var head: String { state.path + "/head" }

    /// Creates the missing directories with access for this user alone, and locks them for this process.
    /// - Returns: The lock, which is held until it is released from memory.
    /// - Throws: `RunError`: `.busy`, `.cache`.
    func open(for root: String) throws(RunError) -> FileLock {
        let lock: FileLock?
        do throws(FileError) {
            _ = try Directory(creating: state.path, mode: 0o700)
            lock = try FileLock(path: state.lock, contents: "\(getpid())\n")
            if lock != nil {
                try state.create()
                try AtomicFile.write(Array(root.utf8), to: "\(state.path)/\(Self.directoryFile)")
            }
        } catch {
            throw RunError(
                .cache,
                "the cache \(state.path) cannot be used: \(error.message); free space there, or set XDG_CACHE_HOME")
        }
        if let lock { return lock }
        let other = (try? WholeFile.read(state.lock, limit: 64)).map { String(decoding: $0, as: UTF8.self) }
        let process = other?.split(separator: "\n").first ?? "?"
        throw RunError(.busy, "another `martlet run` works on \(root) (process \(process)); wait for it, or end it")
    }

    /// Returns the selection of the last run.
    /// - Throws: `RunError.notFound` if there was none.
    func lastSelection(of root: String) throws -> RunSelection {
        guard let bytes = try? WholeFile.read(last, limit: 1 << 20),
            let selection = try? JSONDecoder().decode(RunSelection.self, from: Data(bytes))
        else {
            throw RunError(
                .notFound, "no run is recorded in \(root); name what to run, or leave out --again to run everything")
        }
        return selection
    }

    func remember(_ selection: RunSelection) throws {
        try AtomicFile.write(Array(try JSONEncoder().encode(selection)), to: last)
    }

    /// The repository's commit at the last run here. `nil` if it had none, or if there was no run.
    var lastHead: CommitID? {
        // An unreadable file counts as none.
        (try? WholeFile.read(head, limit: 100)).flatMap { CommitID(String(decoding: $0, as: UTF8.self)) }
    }

    func remember(head commit: CommitID?) throws {
        // A repository without commits does not count as another repository.
        guard let commit, commit != lastHead else { return }
        try AtomicFile.write(Array(commit.description.utf8), to: head)
    }

    /// Removes the caches of directories that no longer exist, and those that were unused for 30 days, unless one is in use.
    static func prune(_ caches: String, now: Timestamp) {
        // A cache that cannot be read or removed now is left for the next run.
        guard let all = try? Directory(opening: caches), let entries = try? all.entries(limit: 100_000) else { return }
        for entry in entries where entry.kind == .directory {
            let file = "\(caches)/\(entry.name)/\(directoryFile)"
            guard let bytes = try? WholeFile.read(file, limit: 4096),
                let status = try? all.status(entry.name + "/" + directoryFile)
            else { continue }
            let age = now.millisecondsSinceEpoch / 1000 - status.modified / 1_000_000_000
            let isGone = access(String(decoding: bytes, as: UTF8.self), F_OK) != 0
            guard isGone || age > maximumAge,
                let lock = try? FileLock(path: "\(caches)/\(entry.name)/lock", contents: "\(getpid())\n")
            else { continue }
            withExtendedLifetime(lock) { try? all.remove(entry.bytes) }
        }
    }
}
