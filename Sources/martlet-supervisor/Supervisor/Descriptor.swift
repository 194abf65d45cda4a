import CLinux
import Glibc

/// Operations on file descriptors. Each returns 0 or the number of errno(3).
enum Descriptor {
    static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        bytes.withUnsafeBytes { writeAll($0, to: descriptor) }
    }

    static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let count = write(descriptor, part.baseAddress, part.count)
            if count < 0, errno != EINTR { return errno }
            rest = rest.dropFirst(max(0, count))
        }
        return 0
    }

    /// Writes the names in a directory to disk. On most file systems a new file's name is stored together with its bytes, but no file system
    /// guarantees it (fsync(2)).
    static func synchronize(directory path: String) -> Int32 {
        let opened = clinux_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard opened >= 0 else { return errno }
        defer { close(opened) }
        return fsync(opened) == 0 ? 0 : errno
    }

    /// Reads at most `limit` bytes once.
    /// - Returns: The bytes; `nil` at the end of the input; `.failure` with the error otherwise, such as EAGAIN if no bytes are available.
    static func readOnce(_ descriptor: Int32, limit: Int) -> Result<[UInt8]?, SystemError> {
        var number: Int32 = 0
        let part = [UInt8](unsafeUninitializedCapacity: limit) { buffer, filled in
            let result = read(descriptor, buffer.baseAddress, limit)
            number = result < 0 ? errno : 0
            filled = max(0, result)
        }
        if number != 0 { return .failure(SystemError(number: number)) }
        return .success(part.isEmpty ? nil : part)
    }
}

/// A number of errno(3).
struct SystemError: Error {
    let number: Int32
    var text: String { String(cString: strerror(number)) }
}

/// Standard output and standard error, unbuffered.
enum Console {
    static func say(_ text: String) { write(text, to: 1) }
    static func complain(_ text: String) { write("martlet-supervisor: " + text + "\n", to: 2) }

    private static func write(_ text: String, to descriptor: Int32) {
        _ = Descriptor.writeAll(Array(text.utf8), to: descriptor)
    }
}
