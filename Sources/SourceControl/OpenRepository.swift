import CLibGit2
import Glibc

/// A repository that is open as long as this object lives, for many at once: `GitHandle` cannot be in an array.
///
/// Used by one lane at a time, which is what makes it safe to hand on.
final class OpenRepository: @unchecked Sendable {
    private let handle: GitHandle
    private var stamp: MirrorStamp
    let pointer: OpaquePointer
    /// Since when libgit2 has packs open and objects in memory; `nil` after `empty`.
    var filled: ContinuousClock.Instant?

    convenience init(_ store: MirrorStore) throws(SourceControlError) { self.init(try store.opened()) }

    /// - Parameter stamp: The files of a mirror before it was opened.
    init(_ handle: consuming GitHandle, stamp: MirrorStamp = MirrorStamp()) {
        pointer = handle.pointer
        self.handle = handle
        self.stamp = stamp
    }

    /// Closes packs and forgets objects and refs, so that the next use reads the disk. The configuration stays.
    /// - Returns: Whether it can be used further.
    func empty() -> Bool {
        filled = nil
        var configuration: OpaquePointer?
        guard git_repository_config(&configuration, pointer) == 0 else { return false }
        defer { git_config_free(configuration) }
        return git_repository__cleanup(pointer) == 0 && git_repository_set_config(pointer, configuration) == 0
    }

    /// Whether the mirror's files are those that were opened, as far as no use of this object has changed them.
    func isCurrent(_ store: MirrorStore) -> Bool { MirrorStamp(of: store) == stamp }

    /// Takes note of what a use of this object has changed. The configuration and `HEAD` are changed by none.
    func noteUse(of store: MirrorStore) { stamp.readRefs(of: store) }
}

/// What tells whether files of a mirror that are read when it is opened have changed since.
struct MirrorStamp: Equatable {
    /// A file's or directory's place and times; all zero where there is none.
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

    /// That of no files.
    init() {}

    init(of store: MirrorStore) {
        head = Part(store.path + "/HEAD")
        configuration = Part(store.path + "/config")
        readRefs(of: store)
    }

    /// Reads once more what uses of a mirror change.
    fileprivate mutating func readRefs(of store: MirrorStore) {
        objects = Part(store.path + "/objects")
        refs = Part(store.path + "/refs")
        packedRefs = Part(store.path + "/packed-refs")
    }
}
