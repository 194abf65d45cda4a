package import Crypto
import Foundation
import Synchronization
package import Transfer

/// An OpenID Connect provider in memory, with real signatures. It keeps the rules of the code flow: a code is valid once, for its client, its
/// redirect address and its PKCE verifier.
package final class FakeProvider: Transport {
    /// An ID token before it is signed.
    package struct Draft: Sendable {
        package var header: [String: String]
        package var claims: [String: Value]
        /// The key that signs; by default the provider's newest.
        package var key: P256.Signing.PrivateKey

        /// Returns the token: a JWS in compact form (RFC 7515, section 3.1), by ES256.
        package func signed() throws -> String {
            let text = try signingInput()
            return text + "." + base64URL([UInt8](try key.signature(for: Data(text.utf8)).rawRepresentation))
        }

        /// Returns what is signed: header and claims.
        package func signingInput() throws -> String {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys]
            return try base64URL([UInt8](encoder.encode(header))) + "." + base64URL([UInt8](encoder.encode(claims)))
        }
    }

    /// A JSON value.
    package enum Value: Sendable, Encodable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
        ExpressibleByBooleanLiteral
    {
        case text(String)
        case number(Int64)
        case flag(Bool)
        case texts([String])

        package init(stringLiteral text: String) { self = .text(text) }
        package init(integerLiteral number: Int64) { self = .number(number) }
        package init(booleanLiteral flag: Bool) { self = .flag(flag) }

        package func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .number(let number): try container.encode(number)
            case .flag(let flag): try container.encode(flag)
            case .texts(let texts): try container.encode(texts)
            }
        }
    }

    private struct Grant: Sendable {
        let nonce: String
        let challenge: String
        let redirect: String
    }

    private struct State {
        var keys: [(id: String, key: P256.Signing.PrivateKey)] = []
        var grants: [String: Grant] = [:]
        var requests: [String] = []
        var next = 0
    }

    package let issuer: String
    package let client: String
    package let secret: String
    /// The claims of the person who signs in, besides those of the protocol.
    package let person: [String: Value]
    private let now: Int64
    private let forge: @Sendable (Draft) throws -> String
    private let more: [String: Value]?
    private let discovery: [String: Value]
    private let state = Mutex(State())

    /// - Parameters:
    ///   - now: The time of the tokens, in seconds since 1970.
    ///   - userinfo: The claims of the userinfo endpoint; `nil`: there is none.
    ///   - discovery: Members of the discovery document that differ from the usual ones.
    ///   - forge: Makes the ID token of its draft.
    package init(
        issuer: String = "https://id.acme.example", client: String = "martlet", secret: String = "s3cret/+=",
        now: Int64, person: [String: Value], userinfo: [String: Value]? = nil, discovery: [String: Value] = [:],
        forge: @escaping @Sendable (Draft) throws -> String = { try $0.signed() }
    ) {
        (self.issuer, self.client, self.secret, self.now, self.person) = (issuer, client, secret, now, person)
        (self.forge, more, self.discovery) = (forge, userinfo, discovery)
        changeKey()
    }

    /// Replaces the key with a new one of another identifier.
    package func changeKey() {
        state.withLock { state in
            state.next += 1
            state.keys = [("key-\(state.next)", P256.Signing.PrivateKey())]
        }
    }

    /// The paths that were asked for, in order.
    package var requests: [String] { state.withLock { $0.requests } }

    /// Signs the person in, as after the browser was sent to `address`.
    /// - Returns: The query with which the browser is sent back; `nil` for a request that a provider would refuse.
    package func authorize(_ address: String) -> String? {
        guard address.hasPrefix("\(issuer)/authorize?"), let items = URLComponents(string: address)?.queryItems else {
            return nil
        }
        let query = Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
        guard query["response_type"] == "code", query["client_id"] == client,
            query["scope"]?.contains("openid") == true, query["code_challenge_method"] == "S256",
            let challenge = query["code_challenge"], let nonce = query["nonce"], let answer = query["state"],
            let redirect = query["redirect_uri"]
        else { return nil }
        return state.withLock { state in
            state.next += 1
            state.grants["code-\(state.next)"] = Grant(nonce: nonce, challenge: challenge, redirect: redirect)
            return "code=code-\(state.next)&state=\(answer)"
        }
    }

    package func perform(_ request: TransferRequest) async throws(TransferError) -> TransferResponse {
        let path = String(request.url.dropFirst(issuer.count))
        state.withLock { $0.requests.append(path) }
        do {
            switch path {
            case "/.well-known/openid-configuration":
                var document: [String: Value] = [
                    "issuer": .text(issuer), "authorization_endpoint": .text(issuer + "/authorize"),
                    "token_endpoint": .text(issuer + "/token"), "jwks_uri": .text(issuer + "/keys"),
                ]
                if more != nil { document["userinfo_endpoint"] = .text(issuer + "/userinfo") }
                return try Self.json(document.merging(discovery) { $1 })
            case "/keys":
                return try Self.json(["keys": state.withLock { $0.keys.map { Self.publicKey($0.key, $0.id) } }])
            case "/token": return try exchange(request)
            case "/userinfo":
                guard request.credentials?.description == "token" else { return TransferResponse(status: 401) }
                return try Self.json(more ?? [:])
            default: return TransferResponse(status: 404)
            }
        } catch {
            throw TransferError(code: .other, operation: request.method.rawValue, message: "\(error)")
        }
    }

    package func stream(_ request: TransferRequest) async throws(TransferError) -> TransferStream {
        throw TransferError(code: .other, operation: request.method.rawValue, message: "a provider streams nothing")
    }

    private func exchange(_ request: TransferRequest) throws -> TransferResponse {
        guard case .bytes(let bytes) = request.body,
            let items = URLComponents(string: "?" + String(decoding: bytes, as: UTF8.self))?.queryItems
        else { return TransferResponse(status: 400) }
        let form = Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
        var allowed = CharacterSet.alphanumerics
        allowed.insert(charactersIn: "-._~")
        let quoted = secret.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
        let basic = "Basic " + Data("\(client):\(quoted)".utf8).base64EncodedString()
        guard request.headers["Authorization"] == basic || form["client_secret"] == secret else {
            return TransferResponse(status: 401)
        }
        let grant = state.withLock { $0.grants.removeValue(forKey: form["code"] ?? "") }
        let challenge = base64URL([UInt8](SHA256.hash(data: Data((form["code_verifier"] ?? "").utf8))))
        guard let grant, grant.redirect == form["redirect_uri"], grant.challenge == challenge,
            form["grant_type"] == "authorization_code", let key = state.withLock({ $0.keys.last })
        else { return TransferResponse(status: 400) }
        let claims: [String: Value] = [
            "iss": .text(issuer), "aud": .text(client), "sub": "248289761001", "nonce": .text(grant.nonce),
            "iat": .number(now), "exp": .number(now + 300),
        ]
        let draft = Draft(
            header: ["alg": "ES256", "kid": key.id], claims: claims.merging(person) { $1 }, key: key.key)
        return try Self.json(["id_token": try forge(draft), "access_token": "access", "token_type": "Bearer"])
    }

    /// Returns a public key as a JWK (RFC 7518, section 6.2).
    package static func publicKey(_ key: P256.Signing.PrivateKey, _ id: String) -> [String: String] {
        let point = [UInt8](key.publicKey.rawRepresentation)
        return [
            "kty": "EC", "crv": "P-256", "use": "sig", "kid": id, "x": base64URL(Array(point[..<32])),
            "y": base64URL(Array(point[32...])),
        ]
    }

    private static func json(_ value: some Encodable) throws -> TransferResponse {
        TransferResponse(status: 200, body: [UInt8](try JSONEncoder().encode(value)))
    }
}

/// Returns bytes in base64url without padding (RFC 4648, section 5).
package func base64URL(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
}
