import Glibc

/// A file operation that failed.
package struct FileError: Error, Hashable, CustomStringConvertible {
    /// The kind of failure, for programs.
    package enum Code: String, Sendable {
        case notFound
        case exists
        /// A link, a mount or `..` is on the path, or the path is not relative to the directory.
        case notBeneath
        case isDirectory
        case notDirectory
        case notEmpty
        case noSpace
        case denied
        /// Larger, longer or more numerous than the caller's limit.
        case tooLarge
        /// Neither a directory nor a regular file with a single name.
        case notRegular
        case other
    }

    package let code: Code
    /// The operation that failed, as a verb: `read`, `rename`.
    package let operation: String
    /// The path, for display; invalid UTF-8 is replaced.
    package let path: String
    /// The system's error number; 0 if no system call failed.
    package let errno: Int32
    package let message: String

    package init(code: Code, operation: String, path: String, errno: Int32 = 0, message: String) {
        self.code = code
        self.operation = operation
        self.path = path
        self.errno = errno
        self.message = message
    }

    /// Creates the error of a system call that has just failed.
    package init(operation: String, path: String, errno number: Int32) {
        let code: Code =
            switch number {
            case ENOENT: .notFound
            case EEXIST: .exists
            case ELOOP, EXDEV: .notBeneath
            case EISDIR: .isDirectory
            case ENOTDIR: .notDirectory
            case ENOTEMPTY: .notEmpty
            case ENOSPC, EDQUOT: .noSpace
            case EACCES, EPERM, EROFS: .denied
            case EFBIG, ENAMETOOLONG: .tooLarge
            case ENXIO: .notRegular
            default: .other
            }
        let reason =
            switch code {
            case .notBeneath: "a link, a mount or a way out of the directory lies on the path"
            default: String(cString: strerror(number))
            }
        self.init(code: code, operation: operation, path: path, errno: number, message: reason)
    }

    package var description: String { "\(operation) of \(path) failed: \(message)" }
}

/// An error that keeps the error that caused it, such as that of a file operation.
package protocol CausedError: Error {
    /// The cause; `nil` if there is none.
    var underlying: (any Error)? { get }
}
