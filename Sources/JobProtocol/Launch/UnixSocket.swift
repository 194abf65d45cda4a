import Glibc

/// The two ends of the launch socket and its framing: four bytes of length, little-endian, then the content. All calls block.
package enum UnixSocket {
    /// How long either end waits for the next bytes of the other.
    package static let patienceMilliseconds: Int32 = 15_000

    /// Connects to a listening socket.
    /// - Returns: A descriptor that the caller closes.
    /// - Throws: `.system` with ENOENT or ECONNREFUSED if no process listens.
    package static func connect(_ path: String) throws(JobProtocolError) -> Int32 {
        let descriptor = try make()
        let result = try withAddress(of: path) { Glibc.connect(descriptor, $0, $1) }
        guard result == 0 else { throw failure("connect to \(path)", closing: descriptor) }
        return descriptor
    }

    /// Creates a socket that only its owner can connect to (mode 0600). Replaces a socket that was left there.
    /// - Returns: A descriptor that the caller closes.
    /// - Throws: `.system`; `.refused` if the path is something other than a socket.
    package static func listen(_ path: String) throws(JobProtocolError) -> Int32 {
        var status = stat()
        if lstat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFSOCK else {
                throw JobProtocolError(
                    .refused, "listen on \(path)", "a file that is not a socket is in the way; remove it")
            }
            unlink(path)
        }
        let descriptor = try make()
        // The path gets the mode of the socket without the bits of the umask (unix_bind of Linux). The umask belongs to the whole process and is not
        // changed.
        guard fchmod(descriptor, 0o600) == 0 else { throw failure("listen on \(path)", closing: descriptor) }
        let result = try withAddress(of: path) { bind(descriptor, $0, $1) }
        guard result == 0, Glibc.listen(descriptor, 64) == 0 else {
            throw failure("listen on \(path)", closing: descriptor)
        }
        return descriptor
    }

    /// Sends one frame.
    /// - Throws: `.system`, with ETIMEDOUT if the other end reads no bytes for `patienceMilliseconds`.
    package static func send(_ bytes: [UInt8], to descriptor: Int32) throws(JobProtocolError) {
        var frame = withUnsafeBytes(of: UInt32(bytes.count).littleEndian) { Array($0) }
        frame += bytes
        var sent = 0
        while sent < frame.count {
            try wait(for: descriptor, POLLOUT)
            let (count, number) = frame[sent...].withUnsafeBytes { buffer in
                let count = Glibc.send(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
                return (count, errno)
            }
            guard count >= 0 || number == EINTR else { throw failure("send to the launch socket", number) }
            sent += max(0, count)
        }
    }

    /// Receives one frame.
    /// - Parameter limit: The size limit in bytes.
    /// - Throws: `.system`, `.overLimit`, or `.closed` if the other end closes too early.
    package static func receive(from descriptor: Int32, limit: Int) throws(JobProtocolError) -> [UInt8] {
        let length = try read(4, from: descriptor).reversed().reduce(0) { $0 << 8 | Int($1) }
        guard length <= limit else {
            throw JobProtocolError(.overLimit, "read from the launch socket", "\(length) bytes, at most \(limit)")
        }
        return try read(length, from: descriptor)
    }

    private static func read(_ count: Int, from descriptor: Int32) throws(JobProtocolError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            try wait(for: descriptor, POLLIN)
            var number: Int32 = 0
            let wanted = count - bytes.count
            let part = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, filled in
                let result = Glibc.read(descriptor, buffer.baseAddress, wanted)
                number = result < 0 ? errno : 0
                filled = max(0, result)
            }
            if number == EINTR { continue }
            guard number == 0 else { throw failure("read from the launch socket", number) }
            guard !part.isEmpty else {
                throw JobProtocolError(.closed, "read from the launch socket", "the other end closed it")
            }
            bytes += part
        }
        return bytes
    }

    private static func wait(for descriptor: Int32, _ events: Int32) throws(JobProtocolError) {
        var source = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        while true {
            let result = poll(&source, 1, patienceMilliseconds)
            if result > 0 { return }
            if result == 0 { throw failure("wait for the launch socket", ETIMEDOUT) }
            guard errno == EINTR else { throw failure("wait for the launch socket", errno) }
        }
    }

    private static func make() throws(JobProtocolError) -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw failure("make a socket", errno) }
        return descriptor
    }

    /// Calls `body` with the address of a path. A path longer than `sun_path` (108 bytes, unix(7)) is reached through the descriptor of its
    /// directory.
    private static func withAddress(
        of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws(JobProtocolError) -> Int32 {
        var path = path
        var directory: Int32 = -1
        defer { if directory >= 0 { close(directory) } }
        if path.utf8.count > 107, let slash = path.lastIndex(of: "/") {
            directory = open(String(path[..<slash]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            path = "/proc/self/fd/\(directory)" + path[slash...]
        }
        guard path.utf8.count <= 107 else {
            throw JobProtocolError(.refused, "use the socket \(path)", "its name is too long; give it a shorter one")
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        return result
    }

    private static func failure(_ operation: String, closing descriptor: Int32) -> JobProtocolError {
        let number = errno
        close(descriptor)
        return failure(operation, number)
    }

    private static func failure(_ operation: String, _ number: Int32) -> JobProtocolError {
        JobProtocolError(.system, operation, String(cString: strerror(number)), errno: number)
    }
}
