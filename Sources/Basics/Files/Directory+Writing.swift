import CLinux
import Glibc

extension Directory {
    /// Writes a temporary file beside `path` and renames it over `path`. A link at `path` is replaced, never its target. The parent must exist. The
    /// file is not synchronized to the disk.
    /// - Parameter mode: The exact mode of the file, regardless of the umask.
    /// - Throws: `isDirectory` if `path` is a directory.
    package func write(_ path: some RelativePath, bytes: [UInt8], mode: UInt16 = 0o644) throws(FileError) {
        let path = try CheckedPath(path, operation: "write")
        try replace(path, operation: "write", mode: mode) { file throws(FileError) in
            try file.writeAll(bytes, path: whole(path.bytes))
        }
    }

    /// Creates a file under its final name. The parent must exist. The file is not synchronized to the disk.
    /// - Parameter mode: The exact mode of the file, regardless of the umask.
    /// - Returns: The file's status after it was written.
    /// - Throws: `exists` if `path` exists.
    package func create(_ path: some RelativePath, bytes: [UInt8], mode: UInt16 = 0o644) throws(FileError) -> FileStatus
    {
        let path = try CheckedPath(path, operation: "create")
        let shown = whole(path.bytes)
        let file = try open(
            path.bytes, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600, operation: "create")
        try file.writeAll(bytes, path: shown)
        guard fchmod(file.number, mode_t(mode)) == 0 else {
            throw FileError(operation: "create", path: shown, errno: errno)
        }
        return try file.status(operation: "create", path: shown)
    }

    /// Writes a file under its final name. An existing file or link is removed first. The parent must exist. The file is not synchronized to the
    /// disk.
    ///
    /// Use it for files that are read only after all of them are written: a reader, also after a kill, can find the file missing or incomplete.
    /// Replacing a file takes a tenth of the time of `write` on ext4, which writes a file to the disk when it is renamed over another (ext4(5),
    /// `auto_da_alloc`).
    /// - Parameter mode: The exact mode of the file, regardless of the umask.
    /// - Returns: The file's status after it was written.
    /// - Throws: `isDirectory` if `path` is a directory.
    @discardableResult
    package func rewrite(
        _ path: some RelativePath, bytes: [UInt8], mode: UInt16 = 0o644
    ) throws(FileError) -> FileStatus {
        let path = try CheckedPath(path, operation: "write")
        let shown = whole(path.bytes)
        let parent = try openParent(of: path, operation: "write")
        guard path.last.withCPath({ unlinkat(parent.number, $0, 0) }) == 0 || errno == ENOENT else {
            throw FileError(operation: "write", path: shown, errno: errno)
        }
        let file = try open(
            path.last, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600, at: parent.number, operation: "write",
            naming: path.bytes)
        // The mode comes first, so that a file with all its bytes also has its mode.
        guard fchmod(file.number, mode_t(mode)) == 0 else {
            throw FileError(operation: "write", path: shown, errno: errno)
        }
        try file.writeAll(bytes, path: shown)
        return try file.status(operation: "write", path: shown)
    }

    /// Creates a symbolic link, in place of an existing file or link. The target is only stored, never resolved.
    package func makeLink(_ path: some RelativePath, target: [UInt8]) throws(FileError) {
        let path = try CheckedPath(path, operation: "symlink")
        guard !target.isEmpty, !target.contains(0) else {
            throw FileError(
                code: .other, operation: "symlink", path: whole(path.bytes), message: "the target is not a path")
        }
        let parent = try openParent(of: path, operation: "symlink")
        let temporary = Self.temporaryName()
        guard target.withCPath({ text in temporary.withCPath { symlinkat(text, parent.number, $0) } }) == 0 else {
            throw FileError(operation: "symlink", path: whole(path.bytes), errno: errno)
        }
        try move(temporary, over: path, in: parent, operation: "symlink")
    }

    /// Renames `path`, beneath this directory, to `newPath` beneath `other`. Both must be on one file system.
    /// - Parameter replace: Whether an existing target is replaced. If not, renameat2(2) with RENAME_NOREPLACE is used, or an equivalent where the
    ///   file system does not support it. Of two writers that publish the same name only one succeeds then.
    /// - Throws: `exists` if `newPath` exists and `replace` is false.
    package func rename(
        _ path: some RelativePath, to other: Directory, _ newPath: some RelativePath, replace: Bool
    ) throws(FileError) {
        try rename(path, to: other, newPath, replace: replace, knowsFlags: true)
    }

    /// Renames as above.
    /// - Parameter knowsFlags: Tests pass `false` to simulate a file system without support for flags.
    func rename(
        _ path: some RelativePath, to other: Directory, _ newPath: some RelativePath, replace: Bool, knowsFlags: Bool
    ) throws(FileError) {
        let path = try CheckedPath(path, operation: "rename")
        let newPath = try CheckedPath(newPath, operation: "rename")
        let from = try openParent(of: path, operation: "rename")
        let into = try other.openParent(of: newPath, operation: "rename")
        let noReplace: UInt32 = 1
        var failure = EINVAL
        if replace || knowsFlags {
            let result = path.last.withCPath { old in
                newPath.last.withCPath { clinux_renameat2(from.number, old, into.number, $0, replace ? 0 : noReplace) }
            }
            failure = result == 0 ? 0 : errno
        }
        if !replace, [EINVAL, ENOSYS, EOPNOTSUPP].contains(failure) {
            failure = Self.moveOntoNothing(path.last, in: from, to: newPath.last, in: into)
        }
        guard failure == 0 else {
            throw FileError(
                operation: "rename", path: "\(whole(path.bytes)) to \(other.whole(newPath.bytes))", errno: failure)
        }
    }

    /// Renames without replacing, on file systems whose rename supports no flags: NFS, 9p and FUSE's sshfs answer EINVAL to RENAME_NOREPLACE
    /// (rename(2)).
    ///
    /// A file gets its new name by link(2), which never replaces; then its old name is removed. If the process is killed between the two, the file
    /// has both names. A directory is renamed by rename(2), which replaces an empty directory at most (ENOTEMPTY, ENOTDIR).
    /// - Returns: 0, or the error number; EEXIST if `newName` exists.
    private static func moveOntoNothing(
        _ name: [UInt8], in from: Descriptor, to newName: [UInt8], in into: Descriptor
    ) -> Int32 {
        name.withCPath { old in
            newName.withCPath { new in
                var status = stat()
                guard fstatat(from.number, old, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return errno }
                guard status.st_mode & S_IFMT == S_IFDIR else {
                    guard linkat(from.number, old, into.number, new, 0) == 0 else { return errno }
                    return unlinkat(from.number, old, 0) == 0 ? 0 : errno
                }
                if renameat(from.number, old, into.number, new) == 0 { return 0 }
                return [ENOTEMPTY, ENOTDIR].contains(errno) ? EEXIST : errno
            }
        }
    }

    /// Copies a regular file with its permissions. The copy shares the file's blocks if the file system supports that (reflink).
    /// - Parameters:
    ///   - limit: The largest size in bytes.
    ///   - isBeside: Whether to copy to a temporary file with a random name and rename it. Otherwise the file is created under its final name, which
    ///     must not exist; after a kill it may be incomplete.
    ///   - goesOn: Returns whether to continue. Gets the bytes copied so far, before each piece of at most 64 MiB and at the end.
    /// - Returns: The number of bytes copied.
    /// - Throws: `tooLarge` if the file is larger than `limit` or grows beyond it; `other` if `goesOn` returned `false`.
    package func copyFile(
        _ path: some RelativePath, to other: Directory, _ newPath: some RelativePath, limit: Int64,
        isBeside: Bool = true,
        goesOn: (_ copied: Int64) -> Bool = { _ in true }
    ) throws(FileError) -> Int64 {
        let path = try CheckedPath(path, operation: "copy")
        let newPath = try CheckedPath(newPath, operation: "copy")
        let (source, status) = try openRegular(path.bytes, operation: "copy")
        let tooLarge = FileError(
            code: .tooLarge, operation: "copy", path: whole(path.bytes), message: "it is larger than \(limit) bytes")
        guard status.size <= limit else { throw tooLarge }
        var copied: Int64 = 0
        func copy(into target: Descriptor) throws(FileError) {
            var isRangeCopied = true
            while true {
                guard goesOn(copied) else {
                    throw FileError(
                        code: .other, operation: "copy", path: whole(path.bytes),
                        message: "it was ended before its end")
                }
                var count = 0
                if isRangeCopied {
                    count = clinux_copy_file_range(source.number, target.number, 64 << 20)
                    if count < 0, errno == EINTR { continue }
                    // copy_file_range(2) does not work between these two file systems or with this kernel: copy by read and write from here.
                    if count < 0, [EXDEV, EINVAL, ENOSYS, EOPNOTSUPP].contains(errno) { isRangeCopied = false }
                }
                if !isRangeCopied { count = try Self.copyChunk(from: source, to: target, path: whole(path.bytes)) }
                guard count >= 0 else { throw FileError(operation: "copy", path: whole(path.bytes), errno: errno) }
                copied += Int64(count)
                guard copied <= limit else { throw tooLarge }
                if count == 0 { return }
            }
        }
        let mode = status.mode & 0o777
        if isBeside {
            try other.replace(newPath, operation: "copy", mode: mode, fill: copy)
        } else {
            try other.fill(newPath, operation: "copy", mode: mode, copy)
        }
        return copied
    }

    private func fill(
        _ path: CheckedPath, operation: String, mode: UInt16, _ fill: (Descriptor) throws(FileError) -> Void
    ) throws(FileError) {
        let file = try open(path.bytes, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600, operation: operation)
        try fill(file)
        guard fchmod(file.number, mode_t(mode)) == 0 else {
            throw FileError(operation: operation, path: whole(path.bytes), errno: errno)
        }
    }

    private static func copyChunk(from source: Descriptor, to target: Descriptor, path: String) throws(FileError) -> Int
    {
        let chunk = 256 * 1024
        while true {
            var failure: Int32 = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: chunk) { buffer, count in
                let result = Glibc.read(source.number, buffer.baseAddress, chunk)
                failure = result < 0 ? errno : 0
                count = max(0, result)
            }
            if failure == EINTR { continue }
            guard failure == 0 else { throw FileError(operation: "copy", path: path, errno: failure) }
            try target.writeAll(bytes, path: path)
            return bytes.count
        }
    }

    // MARK: Replacing atomically

    private func replace(
        _ path: CheckedPath, operation: String, mode: UInt16, fill: (Descriptor) throws(FileError) -> Void
    ) throws(FileError) {
        let parent = try openParent(of: path, operation: operation)
        let temporary = Self.temporaryName()
        let file = try open(
            temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600, at: parent.number, operation: operation,
            naming: path.bytes)
        do throws(FileError) {
            try fill(file)
            guard fchmod(file.number, mode_t(mode)) == 0 else {
                throw FileError(operation: operation, path: whole(path.bytes), errno: errno)
            }
        } catch {
            _ = temporary.withCPath { unlinkat(parent.number, $0, 0) }
            throw error
        }
        try move(temporary, over: path, in: parent, operation: operation)
    }

    private func move(
        _ temporary: [UInt8], over path: CheckedPath, in parent: Descriptor, operation: String
    ) throws(FileError) {
        let result = temporary.withCPath { old in
            path.last.withCPath { clinux_renameat2(parent.number, old, parent.number, $0, 0) }
        }
        guard result == 0 else {
            let failure = errno
            _ = temporary.withCPath { unlinkat(parent.number, $0, 0) }
            throw FileError(operation: operation, path: whole(path.bytes), errno: failure)
        }
    }

    /// Returns a random name, so that a job cannot place a link there in advance. O_EXCL would refuse such a link, too.
    static func temporaryName() -> [UInt8] { Array((".martlet-" + RandomIdentifiers().next()).utf8) }
}
