import CLibGit2
import Glibc

/// A repository that is open as long as this object lives. It is for collections of open repositories, because a `GitHandle` cannot be in an array.
///
/// Only one queue uses it at a time, so it can be passed between queues.
final class OpenRepository: @unchecked Sendable {
    private let handle: GitHandle
    private var stamp: MirrorStamp
    let pointer: OpaquePointer
    /// When libgit2 opened packs and read objects into memory; `nil` after `empty`.
    var filled: ContinuousClock.Instant?

    convenience init(_ store: MirrorStore) throws(SourceControlError) { self.init(try store.opened()) }

    /// - Parameter stamp: The state of the mirror's files before it was opened.
    init(_ handle: consuming GitHandle, stamp: MirrorStamp = MirrorStamp()) {
        pointer = handle.pointer
        self.handle = handle
        self.stamp = stamp
    }

    /// Closes packs, and discards objects and refs in memory, so that the next use reads the disk. The configuration is kept.
    /// - Returns: Whether it can still be used.
    func empty() -> Bool {
        filled = nil
        var configuration: OpaquePointer?
        guard git_repository_config(&configuration, pointer) == 0 else { return false }
        defer { git_config_free(configuration) }
        return git_repository__cleanup(pointer) == 0 && git_repository_set_config(pointer, configuration) == 0
    }

    /// Whether the mirror's files are unchanged since it was opened, apart from changes by this object.
    func isCurrent(_ store: MirrorStore) -> Bool { MirrorStamp(of: store) == stamp }

    /// Records the changes that a use of this object has made. No use changes the configuration or `HEAD`.
    func recordUse(of store: MirrorStore) { stamp.readRefs(of: store) }
}

/// The state of the files that are read when a mirror is opened, for detecting changes.
struct MirrorStamp: Equatable {
    /// The inode, size and times of a file or directory; all zero if it does not exist.
    private struct Part: Equatable {
        var inode: UInt64 = 0
        var size: Int64 = 0
        var times: [Int] = []

        init() {}

        init(_ path: String) {
            var status = stat()
            guard lstat(path, &status) == 0 else { return }
            (inode, size) = (UInt64(status.st_ino), Int64(status.st_size))
            times = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
        }
    }

    private var head = Part()
    private var configuration = Part()
    private var objects = Part()
    private var refs = Part()
    private var packedRefs = Part()

    /// Creates the state without any files.
    init() {}

    init(of store: MirrorStore) {
        head = Part(store.path + "/HEAD")
        configuration = Part(store.path + "/config")
        readRefs(of: store)
    }

    /// Reads the parts again that uses of a mirror change.
    fileprivate mutating func readRefs(of store: MirrorStore) {
        objects = Part(store.path + "/objects")
        refs = Part(store.path + "/refs")
        packedRefs = Part(store.path + "/packed-refs")
    }
}
