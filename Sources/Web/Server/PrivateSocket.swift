import Glibc

/// A Unix socket that other users can never connect to. It is bound in a directory that only the daemon's user may enter, gets the mode 0600 there,
/// and is renamed to its path, replacing the socket of an earlier run.
///
/// The directory always has the same name, so the next start removes what a killed daemon left. Two daemons never use it at once, since each holds
/// the lock of its state directory.
struct PrivateSocket: Sendable {
    /// sockaddr_un's `sun_path` has 108 bytes with its NUL (unix(7)).
    private static let maximumPathBytes = 107

    let path: String
    private let directory: String

    /// The path to bind the socket to.
    var binding: String { directory + "/s" }

    /// Creates the directory and removes an old one.
    /// - Throws: If a path is too long or the directory beside `path` cannot be created.
    init(path: String) throws(Failure) {
        self.path = path
        let parent = path.split(separator: "/").dropLast().joined(separator: "/")
        directory = "/\(parent)/.socket"
        guard binding.utf8.count <= Self.maximumPathBytes, path.utf8.count <= Self.maximumPathBytes else {
            throw Failure(path: path, reason: "the path is too long for a unix socket (\(Self.maximumPathBytes) bytes)")
        }
        // An existing directory is not reused, because the user who created it may still have it open. If it has other files in it, it is not the
        // daemon's, and mkdir(2) then fails with EEXIST.
        unlink(binding)
        rmdir(directory)
        guard mkdir(directory, 0o700) == 0 else { throw Failure(path: directory, errno: errno) }
    }

    /// Makes the bound socket available at its path.
    func publish() throws(Failure) {
        guard chmod(binding, 0o600) == 0, rename(binding, path) == 0 else { throw Failure(path: path, errno: errno) }
        rmdir(directory)
    }

    /// Removes the socket and the directory; ignores what does not exist.
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
