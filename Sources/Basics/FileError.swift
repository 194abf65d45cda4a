import Glibc

/// A file operation that failed.
package struct FileError: Error, Hashable, CustomStringConvertible {
    /// What went wrong, for programs.
    package enum Code: String, Sendable {
        case notFound
        case exists
        /// A link, a mount or `..` lies on the way, or the path is not one beneath the directory at all.
        case notBeneath
        case isDirectory
        case notDirectory
        case notEmpty
        case noSpace
        case denied
        /// Larger, longer or more than the caller's limit.
        case tooLarge
        /// Neither a directory nor a regular file with a single name.
        case notRegular
        case other
    }

    package let code: Code
    /// A verb: `read`, `rename`.
    package let operation: String
    /// Where, for people; bytes that are no text are repaired.
    package let path: String
    /// The system's number, 0 when the failure is ours to name.
    package let errno: Int32
    package let message: String

    package init(code: Code, operation: String, path: String, errno: Int32 = 0, message: String) {
        self.code = code
        self.operation = operation
        self.path = path
        self.errno = errno
        self.message = message
    }

    /// Makes the error of a system call that has just failed.
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
