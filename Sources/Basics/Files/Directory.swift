import CLinux
import Glibc

/// An open directory, and the only way to files in trees that a job could write.
///
/// Every path is relative to the descriptor and resolved by openat2(2) with BENEATH, NO_SYMLINKS, NO_MAGICLINKS and NO_XDEV. A planted link, a
/// swapped directory or a mount therefore cannot lead out of it; such a path fails as `notBeneath`. Calls block for the time of the disk, so run many
/// of them on a `SerialQueue`.
package final class Directory: Sendable {
    /// The longest path of a call in bytes: PATH_MAX without its NUL.
    package static let maximumPathLength = 4095

    private let owned: Descriptor
    /// The path by which it was opened; for messages only.
    package let path: String
    /// Whether files with more than one hard link are read. They are not read in a tree that a job writes, because the job could have linked to one
    /// of the daemon's files. In trees that only operators write, copies are made that way (`cp -al`, hardlink(1), rsnapshot).
    let readsSecondNames: Bool

    /// The open descriptor; valid as long as this object lives.
    package var descriptor: Int32 { owned.number }

    init(_ descriptor: Descriptor, path: String, readsSecondNames: Bool = false) {
        owned = descriptor
        self.path = path
        self.readsSecondNames = readsSecondNames
    }

    /// Opens a directory by a path that the operator chose; links on it are followed.
    /// - Parameter readsSecondNames: Whether files with more than one hard link are read, in it and beneath it. Only for trees that no job writes.
    package convenience init(opening path: String, readsSecondNames: Bool = false) throws(FileError) {
        let number = clinux_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard number >= 0 else { throw FileError(operation: "open", path: path, errno: errno) }
        self.init(Descriptor(number), path: path, readsSecondNames: readsSecondNames)
    }

    /// Opens a directory by a path that the operator chose, after making it and the missing directories above it.
    /// - Parameters:
    ///   - mode: The mode of the directories that are made, before the umask is applied.
    ///   - readsSecondNames: Whether files with more than one hard link are read. Only for trees that no job writes.
    package convenience init(
        creating path: String, mode: UInt16 = 0o755, readsSecondNames: Bool = false
    ) throws(FileError) {
        // The directory nearly always exists.
        let number = clinux_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        if number >= 0 {
            self.init(Descriptor(number), path: path, readsSecondNames: readsSecondNames)
            return
        }
        var made = ""
        for component in path.split(separator: "/") {
            made += (made.isEmpty && !path.hasPrefix("/") ? "" : "/") + component
            guard mkdir(made, mode_t(mode)) == 0 || errno == EEXIST else {
                throw FileError(operation: "mkdir", path: made, errno: errno)
            }
        }
        try self.init(opening: path, readsSecondNames: readsSecondNames)
    }

    /// Opens a directory beneath this one.
    package func directory(_ path: some RelativePath) throws(FileError) -> Directory {
        let path = try CheckedPath(path, operation: "open")
        let opened = try open(path.bytes, O_RDONLY | O_DIRECTORY, operation: "open")
        return Directory(opened, path: whole(path.bytes), readsSecondNames: readsSecondNames)
    }

    /// Makes a directory and the missing directories above it. Fails if a component exists and is not a directory, or is a link.
    package func makeDirectories(_ path: some RelativePath, mode: UInt16 = 0o755) throws(FileError) {
        let path = try CheckedPath(path, operation: "mkdir")
        var current: Descriptor?
        for component in path.bytes.split(separator: UInt8(ascii: "/")) {
            let name = Array(component)
            let above = current?.number ?? descriptor
            guard name.withCPath({ mkdirat(above, $0, mode_t(mode)) }) == 0 || errno == EEXIST else {
                throw FileError(operation: "mkdir", path: whole(path.bytes), errno: errno)
            }
            current = try open(name, clinux_o_path | O_DIRECTORY, at: above, operation: "mkdir", naming: path.bytes)
        }
    }

    /// Returns the status of `path`, without following a link as the last component; `nil` if the path does not exist.
    package func status(_ path: some RelativePath) throws(FileError) -> FileStatus? {
        let path = try CheckedPath(path, operation: "stat")
        do throws(FileError) {
            let opened = try open(path.bytes, clinux_o_path | O_NOFOLLOW, operation: "stat")
            return try opened.status(operation: "stat", path: whole(path.bytes))
        } catch  where error.code == .notFound || error.code == .notDirectory {
            return nil
        }
    }

    // MARK: Opening beneath

    /// Opens a path by openat2(2) with the four restrictions. Adds `O_CLOEXEC`.
    /// - Parameters:
    ///   - base: The descriptor to start at; `nil` means this directory.
    ///   - shown: The path for messages; `nil` means `path`.
    func open(
        _ path: [UInt8], _ flags: Int32, mode: UInt16 = 0, at base: Int32? = nil, operation: String,
        naming shown: [UInt8]? = nil
    ) throws(FileError) -> Descriptor {
        guard path.count <= Self.maximumPathLength else {
            throw FileError(operation: operation, path: whole(shown ?? path), errno: ENAMETOOLONG)
        }
        // EAGAIN: a rename happened meanwhile, so the kernel cannot tell whether the path stayed beneath the directory (openat2(2), "ERRORS"). The
        // number of tries is limited, so that a hostile process cannot block this call by renaming.
        for _ in 0..<128 {
            let number = path.withCPath { clinux_open_beneath(base ?? descriptor, $0, flags | O_CLOEXEC, UInt32(mode)) }
            if number >= 0 { return Descriptor(number) }
            if errno != EAGAIN && errno != EINTR { break }
        }
        throw FileError(operation: operation, path: whole(shown ?? path), errno: errno)
    }

    /// Opens the directory that holds the last component of a path.
    func openParent(of path: CheckedPath, operation: String) throws(FileError) -> Descriptor {
        guard !path.isSelf else {
            throw FileError(
                code: .notBeneath, operation: operation, path: self.path,
                message: "the directory itself cannot be changed through itself")
        }
        return try open(path.parent, clinux_o_path | O_DIRECTORY, operation: operation, naming: path.bytes)
    }

    /// Returns a path for messages.
    func whole(_ relative: [UInt8]) -> String { path + "/" + String(decoding: relative, as: UTF8.self) }
}

extension Directory {
    /// Sets the permissions of a directory beneath this one, or of this one (`.`).
    /// - Parameter mode: The exact mode, regardless of the umask.
    package func setMode(_ mode: UInt16, ofDirectory path: some RelativePath) throws(FileError) {
        let opened = try directory(path)
        guard fchmod(opened.descriptor, mode_t(mode)) == 0 else {
            throw FileError(operation: "chmod", path: opened.path, errno: errno)
        }
    }
}
