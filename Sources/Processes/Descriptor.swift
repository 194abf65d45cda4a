import CLinux
import Glibc

/// Operations on file descriptors. Each returns 0 or the number of errno(3).
package enum Descriptor {
    /// Writes all bytes.
    package static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        bytes.withUnsafeBytes { writeAll($0, to: descriptor) }
    }

    /// Writes all bytes.
    package static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
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
    package static func synchronize(directory path: String) -> Int32 {
        let opened = clinux_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard opened >= 0 else { return errno }
        defer { close(opened) }
        return fsync(opened) == 0 ? 0 : errno
    }

    /// Reads at most `limit` bytes once.
    /// - Returns: The bytes; `nil` at the end of the input; `.failure` with the error otherwise, such as EAGAIN if no bytes are available.
    package static func readOnce(_ descriptor: Int32, limit: Int) -> Result<[UInt8]?, SystemError> {
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
package struct SystemError: Error {
    package let number: Int32

    package init(number: Int32) { self.number = number }

    /// The words of strerror(3).
    package var text: String { String(cString: strerror(number)) }
}

/// Standard output and standard error, unbuffered.
package struct Console {
    private let program: String

    /// - Parameter program: The name before each complaint.
    package init(program: String) { self.program = program }

    /// Writes to standard output.
    package func say(_ text: String) { write(text, to: 1) }
    /// Writes a line to standard error, after the program's name.
    package func complain(_ text: String) { write(program + ": " + text + "\n", to: 2) }

    private func write(_ text: String, to descriptor: Int32) {
        _ = Descriptor.writeAll(Array(text.utf8), to: descriptor)
    }
}
