import CLinux
import Glibc

/// Reads of whole files by paths that the operator chose.
package enum WholeFile {
    /// Reads a file. Symbolic links are followed, because the operator chose the path.
    /// - Parameter limit: In bytes.
    /// - Throws: `tooLarge` if the file is longer. `notRegular` for a pipe, socket or device, without waiting for it.
    package static func read(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
        let number = clinux_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0)
        guard number >= 0 else { throw FileError(operation: "read", path: path, errno: errno) }
        let file = Descriptor(number)
        switch try file.status(operation: "read", path: path).kind {
        case .file: return try file.readAll(limit: limit, path: path)
        case .directory: throw FileError(operation: "read", path: path, errno: EISDIR)
        case .link, .other:
            throw FileError(
                code: .notRegular, operation: "read", path: path, message: "it is a pipe, socket or device")
        }
    }

    /// Reads a file whose path need not be UTF-8. A link as the last component is not followed.
    /// - Parameter limit: In bytes.
    /// - Throws: `tooLarge` if the file is longer; `notRegular` for anything but a regular file.
    package static func read(_ path: [UInt8], limit: Int) throws(FileError) -> [UInt8] {
        let shown = String(decoding: path, as: UTF8.self)
        let number = path.withCPath { clinux_open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW, 0) }
        guard number >= 0 else { throw FileError(operation: "read", path: shown, errno: errno) }
        let file = Descriptor(number)
        guard try file.status(operation: "read", path: shown).kind == .file else {
            throw FileError(code: .notRegular, operation: "read", path: shown, message: "it is not a regular file")
        }
        return try file.readAll(limit: limit, path: shown)
    }
}
