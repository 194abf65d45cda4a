import Logging
package import Model
import Storage

extension UserRequests {
    /// Mutes an issue; see `Operations.silence`.
    package func silence(
        _ digits: String, of id: IntegrationID, reason: String, expires: Timestamp?, by actor: String
    ) async throws(OperationError) -> Issue {
        let now = clock.now()
        let limit = Silence.maximumReasonBytes
        guard reason.contains(where: { !$0.isWhitespace }), reason.utf8.count <= limit else {
            throw OperationError(.invalid, "`reason` has 1 to \(limit) bytes")
        }
        if let expires {
            // The same time is right at another moment, so the request itself is not invalid.
            guard expires > now else { throw OperationError(.conflict, "the end of the mute, \(expires), is past") }
            guard expires - now <= Silence.longest else {
                throw OperationError(.conflict, "the mute would last over 10 years; leave its end out")
            }
        }
        do {
            let issues = try await store.issues(of: id)
            let fingerprint = try IssueName.resolve(digits, among: issues.map(\.fingerprint))
            guard issues.contains(where: { $0.fingerprint == fingerprint && $0.status != .resolved }) else {
                throw OperationError(.conflict, "the issue is resolved in \(id)")
            }
            let silence = Silence(reason: reason, person: actor, at: now, expires: expires)
            try await store.silence(fingerprint, of: id, silence)
            guard let issue = try await store.issues(of: id).first(where: { $0.fingerprint == fingerprint }) else {
                throw OperationError(.notFound, "\(id) has no such issue any more")
            }
            return issue
        } catch let error as OperationError {
            throw error
        } catch let error as StoreError {
            throw refused(error)
        } catch {
            throw OperationError(.internal, "the issue could not be muted", underlying: error)
        }
    }

    /// Revokes a silence; see `Operations.unsilence`.
    package func unsilence(
        _ digits: String, of id: IntegrationID, by actor: String
    ) async throws(OperationError) -> String {
        do {
            let fingerprint = try IssueName.resolve(digits, among: try await store.silences(for: id).keys)
            guard try await store.unsilence(fingerprint, of: id) else {
                throw OperationError(.notFound, "no such issue is muted")
            }
            logger.notice(
                "an issue was unmuted",
                metadata: ["integration": "\(id)", "fingerprint": "\(fingerprint)", "person": "\(actor)"])
            return fingerprint
        } catch let error as OperationError {
            throw error
        } catch let error as StoreError {
            throw refused(error)
        } catch {
            throw OperationError(.internal, "the issue could not be unmuted", underlying: error)
        }
    }

    private func refused(_ error: StoreError) -> OperationError {
        switch error.code {
        case .notFound: OperationError(.notFound, error.message, underlying: error)
        case .tooLarge: OperationError(.conflict, error.message, underlying: error)
        default: stored(error)
        }
    }
}

/// The short name of an issue for users: the first digits of its fingerprint.
package enum IssueName {
    /// The least number of digits.
    package static let shortest = 6

    /// Returns the only fingerprint that begins with these digits.
    /// - Parameter others: All fingerprints.
    /// - Throws: `.invalid` if there are too few digits, `.notFound` if no fingerprint matches, `.conflict` if several match.
    static func resolve(_ digits: String, among others: some Sequence<String>) throws(OperationError) -> String {
        let digits = digits.lowercased()
        guard digits.utf8.count >= shortest else {
            throw OperationError(.invalid, "write at least \(shortest) digits of the issue's fingerprint")
        }
        let found = Set(others.filter { $0.hasPrefix(digits) })
        guard let first = found.first else {
            throw OperationError(.notFound, "there is no issue whose fingerprint begins with \(digits.prefix(64))")
        }
        guard found.count == 1 else {
            throw OperationError(.conflict, "\(found.count) issues begin with \(digits.prefix(64)); write more digits")
        }
        return first
    }
}
