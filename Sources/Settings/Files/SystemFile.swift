import Glibc

/// A reader of the operator's files. They may be symbolic links, which configuration management often creates.
enum SystemFile {
    /// The properties that change when a file changes.
    struct Stamp: Hashable {
        var device: UInt64
        var inode: UInt64
        var size: Int64
        var modifiedSeconds: Int
        var modifiedNanoseconds: Int

        init(_ status: stat) {
            device = UInt64(status.st_dev)
            inode = UInt64(status.st_ino)
            size = Int64(status.st_size)
            modifiedSeconds = status.st_mtim.tv_sec
            modifiedNanoseconds = status.st_mtim.tv_nsec
        }

        /// Whether a later change could leave this stamp the same. That is so if the file was changed less than 0.1 s before: the file system's clock
        /// (a kernel tick, at most 10 ms) may not have advanced.
        var isFresh: Bool {
            var now = timespec()
            clock_gettime(CLOCK_REALTIME, &now)
            let age = (now.tv_sec - modifiedSeconds) * 1_000_000_000 + now.tv_nsec - modifiedNanoseconds
            return (0..<100_000_000).contains(age)
        }
    }

    struct Failure: Error {
        var errno: Int32
        var isMissing: Bool { errno == ENOENT }
        var reason: String { String(cString: strerror(errno)) }
    }

    static func status(_ path: String) throws(Failure) -> stat {
        var status = stat()
        guard stat(path, &status) == 0 else { throw Failure(errno: errno) }
        return status
    }

    /// Returns the contents of a regular file, or its first `limit` + 1 bytes, so that the caller can detect that it is too long.
    static func read(_ path: String, limit: Int) throws(Failure) -> (bytes: [UInt8], status: stat) {
        // The file is opened with `O_NONBLOCK`, so that a FIFO in its place cannot block the reader.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw Failure(errno: errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Failure(errno: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Failure(errno: EISDIR) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 << 10)
        while bytes.count <= limit {
            let count = Glibc.read(descriptor, &chunk, min(chunk.count, limit + 1 - bytes.count))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Failure(errno: errno) }
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        return (bytes, status)
    }

    /// Returns up to `limit` names in a directory, sorted. Names that are not UTF-8 are left out.
    static func names(in path: String, limit: Int) throws(Failure) -> [String] {
        guard let directory = opendir(path) else { throw Failure(errno: errno) }
        defer { closedir(directory) }
        var names: [String] = []
        while names.count < limit, let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: UInt8.self, capacity: 256) { bytes in
                    String(validatingCString: UnsafeRawPointer(bytes).assumingMemoryBound(to: CChar.self))
                }
            }
            if let name, name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}
