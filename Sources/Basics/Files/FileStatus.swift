import Glibc

/// The type of a file.
package enum FileKind: Sendable, Hashable {
    case file, directory, link
    /// A pipe, socket or device.
    case other

    /// Creates the kind from a file's mode.
    /// - Parameter mode: `st_mode` of stat(2).
    init(mode: mode_t) {
        switch mode & S_IFMT {
        case S_IFREG: self = .file
        case S_IFDIR: self = .directory
        case S_IFLNK: self = .link
        default: self = .other
        }
    }
}

/// The status of a file by stat(2), without following a link as the last component.
package struct FileStatus: Sendable, Hashable {
    package let kind: FileKind
    /// The size in bytes.
    package let size: Int64
    /// The lower twelve bits: permissions, set-id and sticky.
    package let mode: UInt16
    /// The number of the file's hard links.
    package let links: Int
    /// The last change of the content, in nanoseconds since 1970.
    package let modified: Int64
    /// The last change of the inode, in nanoseconds since 1970. No program can set it back.
    package let changed: Int64
    package let inode: UInt64
    package let device: UInt64
    package let owner: UInt32

    /// Creates the status from a struct that a system call has filled.
    init(_ status: stat) {
        kind = FileKind(mode: status.st_mode)
        size = Int64(status.st_size)
        mode = UInt16(status.st_mode & 0o7777)
        links = Int(status.st_nlink)
        modified = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
        changed = Int64(status.st_ctim.tv_sec) * 1_000_000_000 + Int64(status.st_ctim.tv_nsec)
        inode = UInt64(status.st_ino)
        device = UInt64(status.st_dev)
        owner = status.st_uid
    }

    /// Reads the status of a path, which need not be UTF-8.
    /// - Returns: `nil` if there is no file, or it cannot be reached.
    package init?(of path: [UInt8]) {
        var found = stat()
        guard path.withCPath({ lstat($0, &found) }) == 0 else { return nil }
        self.init(found)
    }

    /// Whether any of the three execute bits is set.
    package var isExecutable: Bool { kind == .file && mode & 0o111 != 0 }
}
