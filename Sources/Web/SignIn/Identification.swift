import Basics
import Encodings
import HTTPTypes
import Hummingbird
import Model
import Settings

/// Finds the caller behind a request: by a token, by a session, or by the header of a trusted proxy.
struct Identification: Sendable {
    /// The result for a request.
    struct Identity: Sendable {
        var caller = Caller.anonymous
        /// The right by which a long answer is given; `nil` for anonymous callers and for those of a proxy.
        var permit: LiveAnswers.Permit?
        /// Whether the request has a session that has ended.
        var hasEnded = false
    }

    let role: @Sendable (BearerToken) async throws -> Caller?
    let session: @Sendable (SessionSecret) async throws -> Caller?
    let header: HeaderSettings?
    /// The key for the form tokens of persons whom a proxy names. They have no session.
    let key: [UInt8]
    let failedLogins: FailedLogins
    let clock: @Sendable () -> Timestamp

    /// - Parameters:
    ///   - peer: The address of the connection.
    ///   - address: The address that failures are counted for.
    /// - Throws: 401 for an unknown or revoked token, even if none is needed, since the sender wants to know; 429 for an address that sends such
    ///   tokens repeatedly.
    func identify(
        _ request: Request, at place: RequestPlace, peer: IPAddress?, address: IPAddress?, acceptsBasic: Bool
    ) async throws -> Identity {
        if let header = request.headers[.authorization] {
            guard let secret = BearerToken.secret(inAuthorization: header, acceptsBasic: acceptsBasic),
                let token = BearerToken(secret), let caller = try await role(token)
            else {
                throw failedLogins.problem(
                    Problem(401, "This token is not known here, or it was revoked."), from: address, at: clock())
            }
            return Identity(caller: caller, permit: .token(token.hash))
        }
        var identity = Identity()
        if let secret = SessionSecret(of: request, at: place) {
            if let caller = try await session(secret) { return Identity(caller: caller, permit: .session(secret.hash)) }
            identity.hasEnded = true
        }
        if let caller = person(named: request, by: peer) { identity.caller = caller }
        return identity
    }

    /// Returns the person whom a trusted proxy names; `nil` if there is none. The header from any other address is ignored.
    private func person(named request: Request, by peer: IPAddress?) -> Caller? {
        guard let header, let peer, header.from.contains(where: { IPAddress($0) == peer }),
            let field = HTTPField.Name(header.name)
        else { return nil }
        let values = request.headers[values: field]
        // Two values: one may be the client's own.
        guard values.count == 1, let name = values.first, (1...128).contains(name.utf8.count),
            name.utf8.allSatisfy({ (0x20...0x7E).contains($0) && $0 != UInt8(ascii: ",") })
        else { return nil }
        let mail = name.contains("@") ? name : nil
        let rights = header.roles.rights(names: [name], mail: mail)
        guard !rights.isEmpty else { return nil }
        let csrf = Digest.hmacSHA256(key: key, message: Array("header \(name)".utf8))
        return Caller(name: name, rights: rights, csrf: Hexadecimal.encode(csrf), hasSession: false)
    }
}
