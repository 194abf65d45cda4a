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

    /// Those of a service.
    func signers(of place: String) throws -> AllowedSigners {
        let all = try read().signers
        return AllowedSigners(all.filter { $0.principals == AllowedSigners.Signer.principal(place) })
    }

    /// Adds a service's keys.
    func remember(_ signers: AllowedSigners, of place: String) throws {
        do {
            let text =
                try read().text
                + signers.signers.map {
                    AllowedSigners.Signer(principal: place, key: $0.key).line + "\n"
                }.joined()
            _ = try Directory(creating: String(path.dropLast("/known_signers".count)), mode: 0o700)
            try AtomicFile.write(Array(text.utf8), to: path)
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
