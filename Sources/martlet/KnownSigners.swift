import Archives
import Basics
import Foundation
import Glibc

/// The keys that this user's downloads are held to, a line a service: trusted when first seen, as ssh does with hosts.
///
/// The file has the form of ssh-keygen's allowed signers; a principal is the service's URL, or its socket's path.
struct KnownSigners {
    let path: String

    /// `known_signers` in `$XDG_CONFIG_HOME/martlet`, or in `~/.config/martlet`.
    /// - Throws: `Failure` where neither is known.
    init(environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        var base = environment["XDG_CONFIG_HOME"] ?? ""
        if !base.hasPrefix("/") {
            guard let home = environment["HOME"], home.hasPrefix("/") else {
                throw Failure(.configuration, "HOME is not set, so no key can be remembered; say --signers FILE")
            }
            base = home + "/.config"
        }
        path = base + "/martlet/known_signers"
    }

    /// All that are remembered; nobody while there is no file.
    func read() throws -> AllowedSigners {
        guard access(path, F_OK) == 0 else { return AllowedSigners() }
        return try Self.read(path)
    }

    /// Those of a service: of lines that name it, or a pattern that it fits.
    func signers(of place: String) throws -> AllowedSigners {
        AllowedSigners(try read().signers.filter { $0.isKey(of: place) })
    }

    /// The line that makes a key one of a service's.
    static func line(_ key: SignerKey, of place: String) -> String {
        AllowedSigners.Signer(principal: place, key: key).line
    }

    /// Adds a service's keys; what else the file has stays as it is.
    /// - Parameter isLocal: Whether it is this machine's own, so that it is believed what it calls itself: what it made is then
    ///   verified without it too. Another could take a third one's name.
    func remember(_ signers: AllowedSigners, of place: String, isLocal: Bool) async throws {
        let path = path
        do {
            try await BlockingLane(label: "known-signers").run {
                let place = AllowedSigners.Signer.principal(place)
                let directory = String(path.dropLast("/known_signers".count))
                _ = try Directory(creating: directory, mode: 0o700)
                // Two first fetches at once, as of a CI's jobs, lose none of their lines. The lock ends with the descriptor.
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

    /// A file of the user's own.
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
