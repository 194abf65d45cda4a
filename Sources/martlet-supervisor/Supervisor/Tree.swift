import CLinux
import Glibc
import JobProtocol
import Processes

/// A directory that a job can write, or one that is filled from it. Every path is resolved below its descriptor by openat2(2). Links are not
/// followed, and mount points are not crossed.
final class Tree {
    /// The most entries that one walk visits.
    static let entryLimit = 2_000_000

    let descriptor: Int32

    /// Opens a directory.
    /// - Parameter path: An absolute path that a job cannot choose.
    /// - Returns: `.failure` if it does not exist or is not a directory.
    static func open(_ path: String) -> Result<Tree, SystemError> {
        let descriptor = clinux_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        return descriptor < 0 ? .failure(SystemError(number: errno)) : .success(Tree(descriptor))
    }

    init(_ descriptor: Int32) { self.descriptor = descriptor }
    deinit { close(descriptor) }

    func open(_ path: [UInt8], _ flags: Int32, mode: UInt32 = 0) -> Result<Int32, SystemError> {
        let opened = Self.withPath(path.isEmpty ? [UInt8(ascii: ".")] : path) {
            clinux_open_beneath(descriptor, $0, flags | O_CLOEXEC, mode)
        }
        return opened < 0 ? .failure(SystemError(number: errno)) : .success(opened)
    }

    /// Creates the directories of a path.
    /// - Returns: `nil` if all exist now.
    func makeDirectories(_ path: [UInt8]) -> SystemError? {
        var made: [UInt8] = []
        for name in path.split(separator: UInt8(ascii: "/")) {
            guard case .success(let parent) = open(made, O_RDONLY | O_DIRECTORY) else {
                return SystemError(number: errno)
            }
            defer { close(parent) }
            guard Self.withPath(Array(name), { mkdirat(parent, $0, 0o755) }) == 0 || errno == EEXIST else {
                return SystemError(number: errno)
            }
            made += (made.isEmpty ? [] : [UInt8(ascii: "/")]) + name
        }
        return nil
    }

    /// Visits every match that is not a directory, in the order of the names' bytes. `.git` and its contents are skipped by default, because a
    /// recipe's pattern never means git's own files.
    /// - Parameter visit: Gets the path, its open directory, and its name; false ends the walk.
    /// - Returns: The directories that could not be read, and whether there were too many entries.
    func walk(
        _ patterns: [PathPattern], includesGit: Bool = false,
        _ visit: (_ path: [UInt8], _ directory: Int32, _ name: [UInt8]) -> Bool
    ) -> (unreadable: [[UInt8]], isOverLimit: Bool) {
        var pending: [(path: [UInt8], progress: PathProgress)] = [([], PathProgress(patterns))]
        var unreadable: [[UInt8]] = []
        var count = 0
        while let (path, progress) = pending.popLast() {
            guard case .success(let directory) = open(path, O_RDONLY | O_DIRECTORY) else {
                unreadable.append(path)
                continue
            }
            defer { close(directory) }
            var inner: [(path: [UInt8], progress: PathProgress)] = []
            guard let entries = Self.entries(of: directory, limit: Self.entryLimit - count) else {
                return (unreadable, true)
            }
            count += entries.count
            for entry in entries where includesGit || entry.name != Self.git {
                let whole = path.isEmpty ? entry.name : path + [UInt8(ascii: "/")] + entry.name
                if entry.isDirectory {
                    let entered = progress.entering(entry.name)
                    if entered.isPossible { inner.append((whole, entered)) }
                } else if progress.matches(entry.name), !visit(whole, directory, entry.name) {
                    return (unreadable, false)
                }
            }
            pending += inner.reversed()
        }
        return (unreadable, false)
    }

    private static let git = Array(".git".utf8)

    /// Returns the entry at a path without following its last component; `nil` if there is none, or an earlier component is a link.
    func entry(_ path: [UInt8]) -> LinkWalk.Entry? {
        let end = path.lastIndex(of: UInt8(ascii: "/"))
        let name = end.map { Array(path[($0 + 1)...]) } ?? path
        guard case .success(let parent) = open(Array(path[..<(end ?? 0)]), clinux_o_path | O_DIRECTORY) else {
            return nil
        }
        defer { close(parent) }
        var status = stat()
        guard Self.withPath(name, { fstatat(parent, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0 else { return nil }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: return .directory
        case S_IFLNK: return Self.target(of: name, in: parent).map { .link(target: $0) }
        default: return .file
        }
    }

    /// Returns the target of a link; `nil` if it cannot be read.
    static func target(of name: [UInt8], in directory: Int32) -> [UInt8]? {
        var length = -1
        let target = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            length = withPath(name) { path in
                buffer.withMemoryRebound(to: CChar.self) { characters in
                    characters.baseAddress.map { readlinkat(directory, path, $0, characters.count) } ?? -1
                }
            }
            count = max(0, length)
        }
        return length > 0 && length < Int(PATH_MAX) ? target : nil
    }

    /// Returns, for each file with several names, the number of its names in this tree.
    func namesOfFiles() -> [FileIdentity.File: Int] {
        guard let all = PathPattern("**") else { return [:] }
        var names: [FileIdentity.File: Int] = [:]
        _ = walk([all], includesGit: true) { _, directory, name in
            var status = stat()
            if Self.withPath(name, { fstatat(directory, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0,
                status.st_mode & S_IFMT == S_IFREG, status.st_nlink > 1
            {
                names[FileIdentity.File(status), default: 0] += 1
            }
            return true
        }
        return names
    }

    static func withPath<Value>(_ path: [UInt8], _ body: (UnsafePointer<CChar>) -> Value) -> Value {
        // An array that is passed as a pointer lives as long as the call.
        body((path + [0]).map { CChar(bitPattern: $0) })
    }

    /// Returns the names in a directory that are UTF-8; empty if it cannot be read.
    static func names(in path: String) -> [String] {
        guard case .success(let tree) = open(path) else { return [] }
        return names(in: tree.descriptor)
    }

    static func names(in directory: Int32) -> [String] {
        entries(of: directory, limit: entryLimit)?.compactMap { String(validating: $0.name, as: UTF8.self) } ?? []
    }

    /// Returns the entries in the order of their names' bytes; `nil` if there are more than `limit`.
    private static func entries(of directory: Int32, limit: Int) -> [(name: [UInt8], isDirectory: Bool)]? {
        // fdopendir takes ownership of its descriptor.
        let duplicate = clinux_fcntl(directory, F_DUPFD_CLOEXEC, 3)
        guard duplicate >= 0, let stream = fdopendir(duplicate) else { return [] }
        defer { closedir(stream) }
        var entries: [(name: [UInt8], isDirectory: Bool)] = []
        while let next = readdir(stream) {
            let name = withUnsafePointer(to: &next.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: UInt8.self, capacity: 256) {
                    Array(UnsafeBufferPointer(start: $0, count: strlen(tuple)))
                }
            }
            if name == [0x2E] || name == [0x2E, 0x2E] { continue }
            guard entries.count < limit else { return nil }
            var isDirectory = Int(next.pointee.d_type) == Int(DT_DIR)
            if Int(next.pointee.d_type) == Int(DT_UNKNOWN) {
                var status = stat()
                withPath(name) { _ = fstatat(directory, $0, &status, AT_SYMLINK_NOFOLLOW) }
                isDirectory = status.st_mode & S_IFMT == S_IFDIR
            }
            entries.append((name, isDirectory))
        }
        return entries.sorted { $0.name.lexicographicallyPrecedes($1.name) }
    }
}

/// The identity and state of a file at one moment. Any change of its bytes changes this value, because no program can set back an inode's change time
/// (ctime).
struct FileIdentity: Hashable {
    /// The file itself, independent of its bytes.
    struct File: Hashable {
        private let device: dev_t
        private let inode: ino_t

        init(_ status: stat) { (device, inode) = (status.st_dev, status.st_ino) }
    }

    private let file: File
    private let size: off_t
    private let seconds: Int
    private let nanoseconds: Int

    init(_ status: stat) {
        file = File(status)
        size = status.st_size
        (seconds, nanoseconds) = (status.st_ctim.tv_sec, status.st_ctim.tv_nsec)
    }
}
