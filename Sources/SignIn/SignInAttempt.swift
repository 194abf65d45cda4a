import Basics
import Crypto
import Encodings
import Foundation
package import Model

/// A sign-in that a browser has begun at a provider. The browser keeps it in a cookie, sealed with a key of the service, so that no client can
/// fill the service's memory with sign-ins.
package struct SignInAttempt: Codable, Hashable, Sendable {
    /// How long a person has for signing in at the provider.
    package static let lifetime: Duration = .seconds(600)

    /// Ties the provider's answer to this browser (RFC 6749, section 10.12): 64 hexadecimal digits.
    package let state: String
    /// Ties the ID token to this sign-in (OpenID Connect Core 1.0, section 3.1.2.1): 64 hexadecimal digits.
    package let nonce: String
    /// The secret of PKCE (RFC 7636, section 4.1): 64 hexadecimal digits.
    package let verifier: String
    /// The path to return to, on this service.
    package let next: String
    /// The address to which the provider returns the browser.
    package let redirect: String
    /// When it began, in milliseconds since 1970.
    let startedAt: Int64

    /// Begins a sign-in.
    package init(next: String, redirect: String, at now: Timestamp) {
        (state, nonce, verifier) = (Self.random(), Self.random(), Self.random())
        (self.next, self.redirect, startedAt) = (next, redirect, now.millisecondsSinceEpoch)
    }

    /// The `code_challenge` of the method S256 (RFC 7636, section 4.2).
    package var challenge: String { Base64URL.encode(Array(SHA256.hash(data: Array(verifier.utf8)))) }

    /// Returns the attempt as a cookie's value: its JSON and a message authentication code, both in base64url.
    /// - Parameter key: The service's key.
    package func sealed(with key: [UInt8]) -> String {
        // Texts and a number can always be encoded.
        let text = Base64URL.encode(Array((try? JSONEncoder().encode(self)) ?? Data()))
        let code = Digest.hmacSHA256(key: key, message: Self.message(of: text))
        return text + "." + Base64URL.encode(code)
    }

    /// Opens a cookie's value.
    /// - Returns: `nil` if it was not sealed with this key, or has expired.
    package init?(sealed: String, with key: [UInt8], at now: Timestamp) {
        let parts = sealed.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard sealed.utf8.count <= 8192, parts.count == 2, let sent = Base64URL.decode(parts[1]) else { return nil }
        let code = Digest.hmacSHA256(key: key, message: Self.message(of: parts[0]))
        guard ConstantTime.areEqual(code, sent), let bytes = Base64URL.decode(parts[0]),
            let attempt = try? JSONDecoder().decode(Self.self, from: Data(bytes))
        else { return nil }
        let age = now - Timestamp(millisecondsSinceEpoch: attempt.startedAt)
        // A clock that was set back leaves it valid for a while.
        guard (.zero - Self.lifetime...Self.lifetime).contains(age) else { return nil }
        self = attempt
    }

    /// What the code is made of. The key makes other codes, too.
    private static func message(of text: String) -> [UInt8] { Array("sign-in \(text)".utf8) }

    private static func random() -> String { RandomSecret.hexadecimal(bytes: 32) }
}

/// Secrets of the system's random generator.
package enum RandomSecret {
    /// Returns random bytes.
    package static func bytes(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// Returns random bytes as hexadecimal digits.
    package static func hexadecimal(bytes count: Int) -> String { Hexadecimal.encode(bytes(count)) }
}
