import Glibc

/// A unix socket that nobody else could ever connect to: it is bound in a directory that only we may enter, gets the
/// mode 0600 there, and is renamed to its place, over what an earlier run left.
///
/// The directory has always the same name, so that what a kill left goes with the next start; two daemons are never here
/// at once, since each holds its state directory's lock.
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
        directory = "/\(parent)/.socket"
        guard binding.utf8.count <= Self.maximumPathBytes, path.utf8.count <= Self.maximumPathBytes else {
            throw Failure(path: path, reason: "the path is too long for a unix socket (\(Self.maximumPathBytes) bytes)")
        }
        // Not taken over: who made it may still have it open. What has other things in it is not ours, and EEXIST then says so.
        unlink(binding)
        rmdir(directory)
        guard mkdir(directory, 0o700) == 0 else { throw Failure(path: directory, errno: errno) }
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
