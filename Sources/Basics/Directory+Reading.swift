import CLinux
import Glibc

extension Directory {
    /// The names in a directory, without `.` and `..`, sorted by their bytes.
    /// - Parameter limit: More names than this are refused as `tooLarge`. Ten million take about 1 GB.
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

    /// The first `limit` names of an open directory, in the file system's order.
    static func names(in directory: Descriptor, limit: Int, path: String) throws(FileError) -> [DirectoryEntry] {
        // fdopendir owns its descriptor and shares the offset of a duplicate: a fresh open file is needed.
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

    /// Some file systems do not know the kind while listing (readdir(3), DT_UNKNOWN).
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

    /// Reads a regular file that has no other name, unless such are read here.
    /// - Parameter limit: In bytes; a longer file is refused as `tooLarge`.
    /// - Throws: `notRegular` for a pipe, socket, device, and for a file with a second name: a job could have linked to a
    ///   file of ours outside its tree. Never waits for a pipe's writer.
    package func read(_ path: some RelativePath, limit: Int) throws(FileError) -> [UInt8] {
        let path = try CheckedPath(path, operation: "read")
        let opened = try openRegular(path.bytes, operation: "read").descriptor
        return try opened.readAll(limit: limit, path: whole(path.bytes))
    }

    /// Opens a regular file that has no other name, unless such are read here, for a C library to read. The caller closes the descriptor.
    package func openForReading(_ path: some RelativePath) throws(FileError) -> Int32 {
        let path = try CheckedPath(path, operation: "open")
        let opened = try openRegular(path.bytes, operation: "open").descriptor
        let duplicate = clinux_fcntl(opened.number, F_DUPFD_CLOEXEC, 0)
        guard duplicate >= 0 else { throw FileError(operation: "open", path: whole(path.bytes), errno: errno) }
        return duplicate
    }

    /// The target of a link, as its bytes.
    package func linkTarget(_ path: some RelativePath) throws(FileError) -> [UInt8] {
        let path = try CheckedPath(path, operation: "readlink")
        let link = try open(path.bytes, clinux_o_path | O_NOFOLLOW, operation: "readlink")
        var failure: Int32 = 0
        let target = [UInt8](unsafeUninitializedCapacity: Self.maximumPathLength + 1) { buffer, count in
            // An empty path reads the link that the O_PATH descriptor stands for (readlinkat(2)).
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
        // O_NONBLOCK: opening a pipe to read must not wait for a writer. It means nothing to a regular file.
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
