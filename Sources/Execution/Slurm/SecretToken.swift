import Basics
import CLinux
import Foundation
import Glibc
import JobProtocol

/// What a node fetches an attempt's secrets with, once: the content of `token.json`, which has mode 0600. It contains no secret.
package struct SecretToken: Sendable, Hashable, Codable {
    /// The size limit of the file in bytes. A whole store of certificates, such as Mozilla's, has some 220 KB.
    static let sizeLimit = 2 << 20

    /// The URL that is asked.
    package var url: String
    package var token: String
    /// The boot id of the daemon's machine. A node with another one does not ask over unencrypted http: its loopback is another.
    package var bootID: String
    /// The certificates, in PEM, that the node trusts for `url` in place of its machine's; `nil` for the machine's.
    package var certificates: String?

    package init(
        url: String, token: String, bootID: String = LockContent.ofThisProcess().bootID, certificates: String? = nil
    ) {
        (self.url, self.token, self.bootID) = (url, token, bootID)
        self.certificates = certificates
    }

    /// The certificates that this process trusts, if a file has them (`certificates` of the settings); `nil` without one. A directory of certificates
    /// is the machine's own, and a node has its own, too.
    package static func trustedCertificates() -> String? {
        guard let file = CertificateVariables.ofThisProcess.file,
            // A file that cannot be read is reported by the daemon's own connections.
            let bytes = try? WholeFile.read(file, limit: 1 << 20)
        else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The digest by which the daemon knows the token. It is in `placement.json`, so that a daemon that starts again knows it too.
    package var digest: String { Digest.sha256(of: Array(token.utf8)) }

    /// Whether the token and the secrets are encrypted on their way.
    package var isEncrypted: Bool { url.lowercased().hasPrefix("https://") }
}

/// The answer to a request for an attempt's secrets.
package enum SecretAdmission: Sendable, Hashable {
    case admitted
    /// No process has begun the attempt, as far as this machine sees on the shared file system.
    case notBegun
    /// The attempt has ended, is lost, or was asked to end.
    case closed(String)
    /// Another process has used the token. The text is its address.
    case used(String)
}

extension AttemptDirectory {
    /// Writes the token with which a node fetches the attempt's secrets.
    /// - Throws: `.directory`.
    package func record(_ token: SecretToken) throws(ExecutionError) {
        do {
            try AtomicFile.write(Array(JSONEncoder().encode(token)), to: paths.token, mode: 0o600)
        } catch {
            throw ExecutionError(.directory, "write \(paths.token)", "\(error)", underlying: error)
        }
    }

    /// Returns the attempt's token and removes its file; `nil` if the attempt has no secrets.
    /// - Throws: `.directory`, `.malformed`.
    package func takeToken() throws(ExecutionError) -> SecretToken? {
        guard let bytes = try readIfPresent(paths.token, limit: SecretToken.sizeLimit) else { return nil }
        unlink(paths.token)
        do {
            return try JSONDecoder().decode(SecretToken.self, from: Data(bytes))
        } catch {
            throw ExecutionError(.malformed, "read \(paths.token)", "\(error)", underlying: error)
        }
    }

    /// Decides whether a process gets the attempt's secrets, and records the first that does. The same process may ask again until the job starts,
    /// because an answer can be lost.
    /// - Parameters:
    ///   - use: Random text that the process has made and keeps in its memory.
    ///   - peer: The address of the process's machine.
    /// - Throws: `.directory`.
    package func admit(use: String, from peer: String) throws(ExecutionError) -> SecretAdmission {
        guard try claimant() != nil else { return .notBegun }
        let state = try liveness()
        if state == .finished { return .closed("it has ended") }
        if access(paths.loss, F_OK) == 0 { return .closed("it is lost") }
        if access(paths.cancel, F_OK) == 0 { return .closed("it was asked to end") }
        let digest = Digest.sha256(of: Array(use.utf8))
        let hasStarted = access(paths.status, F_OK) == 0
        if !hasStarted, try createExclusively(paths.secretsUse, Array("\(digest) \(peer)\n".utf8), mode: 0o600) {
            return .admitted
        }
        let words = String(decoding: try readIfPresent(paths.secretsUse, limit: 4096) ?? [], as: UTF8.self)
            .split(whereSeparator: \.isWhitespace)
        if !hasStarted, words.first.map(String.init) == digest { return .admitted }
        return .used(words.count > 1 ? words.dropFirst().joined(separator: " ") : "an unknown address")
    }

    /// Records that a use of the attempt's token was refused. Only the first is recorded.
    /// - Throws: `.directory`.
    package func recordRefusedUse(_ sentence: String) throws(ExecutionError) {
        _ = try createExclusively(paths.secretsRefused, Array(sentence.utf8.prefix(1000)), mode: 0o600)
    }

    /// Returns the sentence about a refused use of the attempt's token; `nil` if there was none.
    package func refusedUse() -> String? {
        // Only the file's text is of use, not its existence.
        guard let bytes = try? readIfPresent(paths.secretsRefused, limit: 4096) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
