import Encodings
import Foundation
import JWTKit
import Model

/// An ID token: its claims, once its signature was verified (OpenID Connect Core 1.0, section 3.1.3.7).
struct IDToken: JWTPayload {
    /// The most bytes of a token.
    static let maximumBytes = 64 << 10
    /// How far the provider's clock may differ from this machine's.
    static let leeway: Duration = .seconds(120)
    /// The algorithms that are accepted: asymmetric ones alone. With `none` anybody could make a token, and with HMAC everybody who knows the
    /// client's secret.
    static let algorithms: [String: JWK.KeyType] = [
        "RS256": .rsa, "RS384": .rsa, "RS512": .rsa, "PS256": .rsa, "PS384": .rsa, "PS512": .rsa,
        "ES256": .ecdsa, "ES384": .ecdsa, "ES512": .ecdsa, "EdDSA": .octetKeyPair,
    ]

    let issuer: String
    let audiences: [String]
    let party: String?
    let expires: Double
    let issued: Double
    let notBefore: Double?
    let nonce: String?
    let claims: ProviderClaims

    enum CodingKeys: String, CodingKey {
        case issuer = "iss"
        case audiences = "aud"
        case party = "azp"
        case expires = "exp"
        case issued = "iat"
        case notBefore = "nbf"
        case nonce
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        issuer = try values.decode(String.self, forKey: .issuer)
        // One audience may be a text (RFC 7519, section 4.1.3).
        let one = try? values.decode(String.self, forKey: .audiences)
        audiences = try one.map { [$0] } ?? values.decode([String].self, forKey: .audiences)
        party = try values.decodeIfPresent(String.self, forKey: .party)
        expires = try values.decode(Double.self, forKey: .expires)
        issued = try values.decode(Double.self, forKey: .issued)
        notBefore = try values.decodeIfPresent(Double.self, forKey: .notBefore)
        nonce = try values.decodeIfPresent(String.self, forKey: .nonce)
        claims = try ProviderClaims(from: decoder)
    }

    /// Never called: the service reads tokens and makes none.
    func encode(to encoder: any Encoder) throws {
        throw EncodingError.invalidValue(self, .init(codingPath: [], debugDescription: "ID tokens are only read"))
    }

    /// The claims need the settings and the sign-in, so `check` compares them.
    func verify(using algorithm: some JWTAlgorithm) {}

    /// Compares the claims with what was asked for.
    /// - Throws: `refused`, with the first difference.
    func check(issuer: String, client: String, nonce: String, at now: Timestamp) throws(SignInError) {
        let seconds = Double(now.millisecondsSinceEpoch) / 1000
        let leeway = Double(Self.leeway.components.seconds)
        guard self.issuer == issuer else { throw Self.refused("comes from another issuer than the settings name") }
        guard audiences.contains(client) else { throw Self.refused("is meant for another client") }
        // OpenID Connect Core 1.0, section 3.1.3.7, numbers 4 and 5.
        guard audiences.count == 1 || party != nil, party == nil || party == client else {
            throw Self.refused("was given to another client")
        }
        guard expires > seconds - leeway else { throw Self.refused("has expired") }
        guard issued < seconds + leeway, (notBefore ?? 0) < seconds + leeway else {
            throw Self.refused("is not valid yet; the clocks of the provider and of this machine differ")
        }
        // Read from a sign-in of this service, so the time until the comparison ends says nothing to an attacker.
        guard self.nonce == nonce else { throw Self.refused("belongs to another sign-in") }
        guard claims.subject?.isEmpty == false else { throw Self.refused("names no person") }
    }

    static func refused(_ what: String, underlying: (any Error)? = nil) -> SignInError {
        SignInError(.refused, "The provider's ID token \(what). Sign in again.", underlying: underlying)
    }
}

/// The protected header of a token, before anything of it is believed.
struct TokenHeader: Decodable {
    let alg: String
    let kid: String?
    /// Extensions that must be understood (RFC 7515, section 4.1.11). None is.
    let crit: [String]?

    /// - Throws: `refused` for a text that is no signed token.
    init(of token: String) throws(SignInError) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard token.utf8.count <= IDToken.maximumBytes, parts.count == 3,
            let bytes = Base64URL.decode(String(parts[0])),
            let header = try? JSONDecoder().decode(Self.self, from: Data(bytes)), header.crit == nil
        else { throw IDToken.refused("is not readable") }
        self = header
    }
}

/// The keys with which a provider signs (RFC 7517).
struct ProviderKeys: Sendable {
    /// The most keys that are used; further ones are ignored.
    static let maximumKeys = 64

    private let keys: [JWK]

    /// Reads a JWK Set. Keys that this program cannot use, and keys for encryption, are left out.
    /// - Returns: `nil` for another document.
    init?(_ bytes: [UInt8]) {
        struct Document: Decodable {
            let keys: [Entry]
        }
        struct Entry: Decodable {
            let key: JWK?

            private enum CodingKeys: String, CodingKey { case use }

            init(from decoder: any Decoder) throws {
                let use = try? decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(String.self, forKey: .use)
                key = use == "enc" ? nil : try? JWK(from: decoder)
            }
        }
        guard let document = try? JSONDecoder().decode(Document.self, from: Data(bytes)) else { return nil }
        keys = Array(document.keys.compactMap(\.key).prefix(Self.maximumKeys))
    }

    /// Returns the keys that may have signed a token.
    func candidates(_ header: TokenHeader) -> [JWK] {
        guard let type = IDToken.algorithms[header.alg] else { return [] }
        return keys.filter { key in
            key.keyType.rawValue == type.rawValue && (key.algorithm == nil || key.algorithm?.rawValue == header.alg)
                && (header.kid == nil || key.keyIdentifier?.string == header.kid)
        }
    }

    /// Returns whether a key has the token's identifier.
    func knows(_ header: TokenHeader) -> Bool {
        header.kid.map { kid in keys.contains { $0.keyIdentifier?.string == kid } } ?? !keys.isEmpty
    }

    /// Verifies a token's signature with one key after another, by the algorithm that its header names.
    /// - Throws: `refused` if no key fits.
    func verify(_ token: String, _ header: TokenHeader) async throws(SignInError) -> IDToken {
        var failure: (any Error)?
        for var key in candidates(header) {
            // A collection of one key: with several, jwt-kit takes its default key for an unknown identifier.
            let collection = JWTKeyCollection()
            key.algorithm = JWK.Algorithm(rawValue: header.alg)
            key.keyIdentifier = key.keyIdentifier ?? "key"
            do {
                try await collection.add(jwk: key)
                return try await collection.verify(token, as: IDToken.self)
            } catch {
                failure = error
            }
        }
        throw IDToken.refused("is not signed by a key of the provider", underlying: failure)
    }
}
