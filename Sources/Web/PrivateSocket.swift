import Glibc

/// A unix socket that nobody else could ever connect to: it is bound in a directory that only we may enter, gets the
/// mode 0600 there, and is renamed to its place, over what an earlier run left.
struct PrivateSocket: Sendable {
    /// sockaddr_un's `sun_path` has 108 bytes with its NUL (unix(7)).
    private static let maximumPathBytes = 107

    let path: String
    private let directory: String

    /// Where to bind.
    var binding: String { directory + "/s" }

    /// - Throws: When the directory beside `path` cannot be made.
    init(path: String) throws(Failure) {
        self.path = path
        let parent = path.split(separator: "/").dropLast().joined(separator: "/")
        var template = Array("/\(parent)/.socket-XXXXXX".utf8CString)
        guard template.count + 2 <= Self.maximumPathBytes, path.utf8.count <= Self.maximumPathBytes else {
            throw Failure(path: path, reason: "the path is too long for a unix socket (\(Self.maximumPathBytes) bytes)")
        }
        // mkdtemp makes it with the mode 0700 (mkdtemp(3)).
        guard mkdtemp(&template) != nil else { throw Failure(path: path, errno: errno) }
        directory = template.withUnsafeBufferPointer { buffer in
            String(decoding: buffer.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    /// Puts the bound socket into its place.
    func publish() throws(Failure) {
        guard chmod(binding, 0o600) == 0, rename(binding, path) == 0 else { throw Failure(path: path, errno: errno) }
        rmdir(directory)
    }

    /// Takes away what is left; what is not there is fine.
    func remove() {
        unlink(path)
        unlink(binding)
        rmdir(directory)
    }

    struct Failure: Error, CustomStringConvertible {
        let path: String
        let reason: String

        init(path: String, reason: String) {
            self.path = path
            self.reason = reason
        }

        init(path: String, errno: Int32) { self.init(path: path, reason: String(cString: strerror(errno))) }

        var description: String { "listening on the unix socket \(path) failed: \(reason)" }
    }
}
