import Basics
package import Execution
package import Logging
import Model
package import Storage
import Synchronization

/// Hands secrets to the nodes of clusters. A node asks with the one-time token of its attempt, and gets them while the attempt is open.
///
/// No value is stored: it is read from the secrets when a node asks. After a restart of the daemon an attempt is open again when it is taken up.
package final class SecretHandover: Sendable {
    /// The reason why a node gets no secrets.
    package enum Refusal: Error, Sendable, Hashable {
        /// No open attempt has this token. A daemon that has just started may not have taken the attempt up yet.
        case unknown
        /// The attempt takes no secrets any more, or its token was used before. The text states which.
        case refused(String)
        /// The secrets cannot be read now.
        case unavailable
    }

    private struct Entry: Sendable {
        var directory: AttemptDirectory
        var values: @Sendable () async throws -> [String: String]
    }

    private let entries = Mutex<[String: Entry]>([:])
    private let clock: WallClock
    private let logger: Logger

    package init(clock: WallClock, logger: Logger) { (self.clock, self.logger) = (clock, logger) }

    /// Lets a node fetch the secrets of an attempt from now on.
    /// - Parameter digest: `SecretToken.digest`.
    package func open(
        _ directory: AttemptDirectory, digest: String,
        values: @escaping @Sendable () async throws -> [String: String]
    ) {
        entries.withLock { $0[digest] = Entry(directory: directory, values: values) }
    }

    /// Ends an attempt's claim to its secrets.
    package func close(_ directory: AttemptDirectory) {
        entries.withLock { $0 = $0.filter { $0.value.directory.path != directory.path } }
    }

    /// Returns the secrets of the attempt that a token belongs to, by variable.
    /// - Parameters:
    ///   - use: Random text that the asking process made. The same process may ask again until the job starts.
    ///   - peer: The address of the asking machine.
    package func redeem(
        token: String, use: String, from peer: String
    ) async throws(Refusal) -> [String: String] {
        let digest = Digest.sha256(of: Array(token.utf8))
        guard let entry = entries.withLock({ $0[digest] }) else { throw .unknown }
        let directory = entry.directory
        let admission: SecretAdmission
        do {
            admission = try await SerialQueue(label: "secrets").run { try directory.admit(use: use, from: peer) }
        } catch {
            logger.warning(
                "a node's request for secrets could not be recorded; it asks again",
                metadata: ["attempt": "\(directory.path)", "error": "\(error)"])
            throw .unavailable
        }
        switch admission {
        case .notBegun: throw .unavailable
        case .closed(let reason): throw await refuse(directory, peer, "the attempt gets no secrets: \(reason)")
        case .used(let first):
            throw await refuse(directory, peer, "the token was used before, from \(first); it works once")
        case .admitted: break
        }
        do {
            let values = try await entry.values()
            logger.notice(
                "a node was given the secrets of its job",
                metadata: [
                    "attempt": "\(directory.path)", "from": "\(peer)",
                    "secrets": "\(values.keys.sorted().joined(separator: ", "))",
                ])
            return values
        } catch {
            logger.error(
                "the secrets of a job on a node cannot be read",
                metadata: ["attempt": "\(directory.path)", "error": "\(error)"])
            throw .unavailable
        }
    }

    /// Records a refused use for the attempt's reason and the operator.
    private func refuse(_ directory: AttemptDirectory, _ peer: String, _ reason: String) async -> Refusal {
        let sentence =
            "a use of its token for secrets from \(peer) was refused at \(clock.now()): \(reason); "
            + "if that was no process of the job, change the secrets"
        logger.warning(
            "a use of a token for a job's secrets was refused",
            metadata: ["attempt": "\(directory.path)", "from": "\(peer)", "reason": "\(reason)"])
        do {
            try await SerialQueue(label: "secrets").run { try directory.recordRefusedUse(sentence) }
        } catch {
            logger.error(
                "a refused use of a token could not be recorded",
                metadata: ["attempt": "\(directory.path)", "error": "\(error)"])
        }
        return .refused(reason)
    }
}

extension JobRunner {
    /// Makes the token with which a node fetches the secrets of a job; `nil` if it has none.
    /// - Throws: `PreparationError.secretsNeedTLS` if the secrets would go unencrypted to another machine.
    func secretToken(for secrets: [String: String], at executor: Name) throws(PreparationError) -> SecretToken? {
        guard !secrets.isEmpty else { return nil }
        let url = environment.url
        let token = SecretToken(url: url + SecretHandover.path, token: RandomIdentifiers().next())
        guard token.isEncrypted || SecretHandover.isLoopback(url) else {
            throw .secretsNeedTLS(executor, secrets.keys.sorted(), url: url)
        }
        return token
    }

    /// Lets the node of an attempt fetch its secrets, if it was given a token.
    func openSecrets(of directory: AttemptDirectory, _ request: Request) async throws {
        let placement = try await queue.run { try directory.placement() }
        guard let digest = placement?.tokenDigest else { return }
        handover.open(directory, digest: digest) {
            try await self.secretValues(of: request, domain: Workspaces.TrustDomain(request.integration))
        }
    }
}

extension SecretHandover {
    /// The path of the request beneath the service's URL.
    package static let path = "/api/v1/attempts/secrets"

    /// Whether an http URL is of this machine alone: 127.0.0.0/8, `::1` or `localhost`.
    package static func isLoopback(_ url: String) -> Bool {
        guard url.lowercased().hasPrefix("http://") else { return false }
        let authority = url.dropFirst("http://".count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.contains("@") else { return false }
        if authority.hasPrefix("[::1]") { return true }
        let host = authority.prefix { $0 != ":" }.lowercased()
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return host == "localhost" || parts.count == 4 && parts.allSatisfy { UInt8($0) != nil } && parts[0] == "127"
    }
}
