import Archives
import Basics
import Foundation
import Glibc
import Releases

/// The keys that the user's downloads must be signed with, one service a line. A key is trusted when it is first seen, like a host's key in ssh.
///
/// The file has the format of ssh-keygen's allowed signers. A principal is the service's URL, or the path of its socket.
struct KnownSigners {
    let path: String

    /// Uses the file `known_signers` in `$XDG_CONFIG_HOME/martlet`, or in `~/.config/martlet`.
    /// - Throws: `Failure` if neither variable is set.
    init(environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        var base = environment["XDG_CONFIG_HOME"] ?? ""
        if !base.hasPrefix("/") {
            guard let home = environment["HOME"], home.hasPrefix("/") else {
                throw Failure(.configuration, "HOME is not set, so no key can be remembered; write --signers FILE")
            }
            base = home + "/.config"
        }
        path = base + "/martlet/known_signers"
    }

    /// Reads all remembered keys; none if there is no file.
    func read() throws -> AllowedSigners {
        guard access(path, F_OK) == 0 else { return AllowedSigners() }
        return try Self.read(path)
    }

    /// Returns the keys of a service: those of lines that name it, or whose pattern matches it.
    func signers(of place: String) throws -> AllowedSigners {
        AllowedSigners(try read().signers.filter { $0.isKey(of: place) })
    }

    /// Returns the line that adds a key of a service.
    static func line(_ key: SignerKey, of place: String) -> String {
        AllowedSigners.Signer(principal: place, key: key).line
    }

    /// Adds a service's keys and leaves the rest of the file unchanged.
    /// - Parameter isLocal: Whether the service runs on this machine. The names that it calls itself are then believed and also added, so that its
    ///   versions can be verified without it. A remote service could claim another service's name.
    func remember(_ signers: AllowedSigners, of place: String, isLocal: Bool) async throws {
        let path = path
        do {
            try await SerialQueue(label: "known-signers").run {
                let place = AllowedSigners.Signer.principal(place)
                let directory = String(path.dropLast("/known_signers".count))
                _ = try Directory(creating: directory, mode: 0o700)
                // Two concurrent first downloads, such as those of CI jobs, lose no line. Closing the descriptor releases the lock.
                let lock = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                guard lock >= 0 else { throw FileError(operation: "lock", path: directory, errno: errno) }
                defer { close(lock) }
                while flock(lock, LOCK_EX) != 0, errno == EINTR {}
                var bytes =
                    access(path, F_OK) == 0 ? try WholeFile.read(path, limit: AllowedSigners.maximumSize) : []
                if let last = bytes.last, last != UInt8(ascii: "\n") { bytes.append(UInt8(ascii: "\n")) }
                for signer in signers.signers {
                    let own = AllowedSigners.Signer.principal(signer.principals)
                    var line = Self.line(signer.key, of: place)
                    if isLocal, own != place {
                        line = own.isEmpty ? line : line.replacing(place, with: "\(place),\(own)", maxReplacements: 1)
                    }
                    bytes += Array((line + "\n").utf8)
                }
                try AtomicFile.write(bytes, to: path)
            }
        } catch let error as FileError {
            throw Failure(.cannotCreate, "the key cannot be remembered in \(path): \(error.message)")
        }
    }

    /// Reads a file of allowed signers.
    /// - Throws: `Failure` if it cannot be read or parsed.
    static func read(_ path: String) throws -> AllowedSigners {
        do {
            let bytes = try WholeFile.read(path, limit: AllowedSigners.maximumSize)
            return try AllowedSigners(String(decoding: bytes, as: UTF8.self), name: path)
        } catch let error as FileError {
            throw Failure(.notFound, "\(path) cannot be read: \(error.message)")
        } catch let error as ArchiveError {
            throw Failure(.usage, "\(error)")
        }
    }
}
