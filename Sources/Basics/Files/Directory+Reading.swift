import CLinux
import Glibc

extension Directory {
    /// Lists the names in a directory, without `.` and `..`, sorted by their bytes.
    /// - Parameter limit: The largest number of names. Ten million names take about 1 GB of memory.
    /// - Throws: `tooLarge` if there are more names.
    package func entries(_ path: some RelativePath = ".", limit: Int = 10_000_000) throws(FileError) -> [DirectoryEntry]
    {
        let path = try CheckedPath(path, operation: "list")
        let opened = try open(path.bytes, O_RDONLY | O_DIRECTORY, operation: "list")
        let names = try Self.names(in: opened, limit: limit + 1, path: whole(path.bytes))
        guard names.count <= limit else {
            throw FileError(
                code: .tooLarge, operation: "list", path: whole(path.bytes), message: "more than \(limit) names")
        }
        return names.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }

    /// Returns the first `limit` names of an open directory, in the file system's order.
    static func names(in directory: Descriptor, limit: Int, path: String) throws(FileError) -> [DirectoryEntry] {
        // fdopendir(3) takes over its descriptor, and a duplicate would share its offset, so the directory is opened a second time.
        let number = clinux_openat(directory.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard number >= 0 else { throw FileError(operation: "list", path: path, errno: errno) }
        guard let stream = fdopendir(number) else {
            let failure = errno
            close(number)
            throw FileError(operation: "list", path: path, errno: failure)
        }
        defer { closedir(stream) }
        var names: [DirectoryEntry] = []
        while names.count < limit {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw FileError(operation: "list", path: path, errno: errno) }
                break
            }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: UInt8.self, capacity: 256) {
                    Array(UnsafeBufferPointer(start: $0, count: strlen(tuple)))
                }
            }
            if name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8) { continue }
            names.append(DirectoryEntry(bytes: name, kind: kind(of: entry.pointee.d_type, name, in: number)))
        }
        return names
    }

    /// Returns the kind of an entry. Asks for its status if the file system does not state the kind while listing (readdir(3), DT_UNKNOWN).
    private static func kind(of type: UInt8, _ name: [UInt8], in directory: Int32) -> FileKind {
        switch Int(type) {
        case Int(DT_REG): return .file
        case Int(DT_DIR): return .directory
        case Int(DT_LNK): return .link
        case Int(DT_UNKNOWN):
            var status = stat()
            guard name.withCPath({ fstatat(directory, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0 else { return .other }
            return FileKind(mode: status.st_mode)
        default: return .other
        }
    }

    /// Reads a regular file. Refuses a file with more than one hard link, unless the directory was opened with `readsSecondNames`.
    /// - Parameter limit: In bytes.
    /// - Throws: `tooLarge` if the file is longer. `notRegular` for a pipe, socket or device, and for a file with a second name: a job could have
    ///   linked to one of the daemon's own files. Never waits for the writer of a pipe.
    package func read(_ path: some RelativePath, limit: Int) throws(FileError) -> [UInt8] {
        let path = try CheckedPath(path, operation: "read")
        let opened = try openRegular(path.bytes, operation: "read").descriptor
        return try opened.readAll(limit: limit, path: whole(path.bytes))
    }

    /// Opens a regular file for a C library to read, under the same conditions as `read`. The caller closes the descriptor.
    package func openForReading(_ path: some RelativePath) throws(FileError) -> Int32 {
        let path = try CheckedPath(path, operation: "open")
        let opened = try openRegular(path.bytes, operation: "open").descriptor
        let duplicate = clinux_fcntl(opened.number, F_DUPFD_CLOEXEC, 0)
        guard duplicate >= 0 else { throw FileError(operation: "open", path: whole(path.bytes), errno: errno) }
        return duplicate
    }

    /// Returns the target of a symbolic link as bytes.
    package func linkTarget(_ path: some RelativePath) throws(FileError) -> [UInt8] {
        let path = try CheckedPath(path, operation: "readlink")
        let link = try open(path.bytes, clinux_o_path | O_NOFOLLOW, operation: "readlink")
        var failure: Int32 = 0
        let target = [UInt8](unsafeUninitializedCapacity: Self.maximumPathLength + 1) { buffer, count in
            // An empty path means the link that the O_PATH descriptor refers to (readlinkat(2)).
            let length = buffer.withMemoryRebound(to: CChar.self) { characters -> Int in
                guard let start = characters.baseAddress else { return -1 }
                return readlinkat(link.number, "", start, characters.count)
            }
            failure = length < 0 ? errno : 0
            count = max(0, length)
        }
        guard failure == 0 else { throw FileError(operation: "readlink", path: whole(path.bytes), errno: failure) }
        return target
    }

    func openRegular(_ path: [UInt8], operation: String) throws(FileError) -> (
        descriptor: Descriptor, status: FileStatus
    ) {
        // O_NONBLOCK: opening a pipe must not wait for a writer. It has no effect on a regular file.
        let opened = try open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, operation: operation)
        let status = try opened.status(operation: operation, path: whole(path))
        switch status.kind {
        case .file where status.links <= 1 || readsSecondNames: return (opened, status)
        case .directory: throw FileError(operation: operation, path: whole(path), errno: EISDIR)
        default:
            let what = status.kind == .file ? "it has \(status.links) names" : "it is a pipe, socket or device"
            throw FileError(code: .notRegular, operation: operation, path: whole(path), message: what)
        }
    }
}

/// A name in a directory.
package struct DirectoryEntry: Sendable, Hashable {
    /// The name as the kernel stores it: any bytes but `/` and NUL.
    package let bytes: [UInt8]
    package let kind: FileKind

    package init(bytes: [UInt8], kind: FileKind) {
        self.bytes = bytes
        self.kind = kind
    }

    /// The name as text, for display only: invalid UTF-8 is replaced. Use `bytes` to access the file.
    package var name: String { String(decoding: bytes, as: UTF8.self) }

    /// Whether the name is valid UTF-8, so that `name` is exact.
    package var isText: Bool { Array(name.utf8) == bytes }
}
