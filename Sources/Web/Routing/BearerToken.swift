import Basics
import Encodings
import Foundation

/// The secret of a token: `mt_` and 64 hexadecimal digits (32 random bytes). Only its SHA-256 is stored. Looking a token up by its hash is safe from
/// timing attacks, because nobody can choose the hash.
package struct BearerToken: Sendable, Hashable {
    package let secret: String

    private static let prefix = "mt_"

    /// Parses a secret. Returns `nil` for anything but the exact form.
    package init?(_ secret: String) {
        guard secret.utf8.count == 67, secret.hasPrefix(Self.prefix),
            secret.utf8.dropFirst(3).allSatisfy({
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            })
        else { return nil }
        self.secret = secret
    }

    private init(bytes: [UInt8]) { secret = Self.prefix + Hexadecimal.encode(bytes) }

    /// Creates a secret with the system's random generator.
    package static func random() -> BearerToken {
        var generator = SystemRandomNumberGenerator()
        return BearerToken(bytes: (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// The SHA-256 of the secret, which the store keeps: 64 hexadecimal digits.
    package var hash: String { Digest.sha256(of: Array(secret.utf8)) }

    /// Returns the secret of an `Authorization` header: `Bearer SECRET` or `Basic` with the secret as the password.
    /// - Parameter acceptsBasic: Whether `Basic` is accepted. Browsers send it by themselves, even with requests that other sites cause, so callers
    ///   accept it only for reading.
    /// - Returns: `nil` if the header has neither form.
    static func secret(inAuthorization header: String, acceptsBasic: Bool) -> String? {
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        switch parts[0].lowercased() {
        case "bearer": return String(parts[1])
        case "basic" where acceptsBasic:
            guard let data = Data(base64Encoded: String(parts[1])),
                let colon = data.firstIndex(of: UInt8(ascii: ":"))
            else { return nil }
            return String(decoding: data[data.index(after: colon)...], as: UTF8.self)
        default: return nil
        }
    }
}
