import Basics
import Crypto
import Foundation

/// The secret of a token: `mt_` and 64 hexadecimal digits (32 random bytes). Only its SHA-256 is stored, so the
/// look-up by hash is not open to timing: what differs is a hash that nobody can steer.
package struct BearerToken: Sendable, Hashable {
    package let secret: String

    private static let prefix = "mt_"

    /// Parses a secret; anything else than the exact form is nothing.
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

    /// A new one from the system's generator.
    package static func random() -> BearerToken {
        var generator = SystemRandomNumberGenerator()
        return BearerToken(bytes: (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// What the store keeps: 64 hexadecimal digits.
    package var hash: String { Self.digest(of: Array(secret.utf8)) }

    /// SHA-256 as 64 hexadecimal digits.
    static func digest(of bytes: [UInt8]) -> String { Hexadecimal.encode(Array(SHA256.hash(data: bytes))) }

    /// The secret of an `Authorization` header: `Bearer SECRET`, or, when `acceptsBasic`, `Basic` with the secret as
    /// the password, which is what a browser can send. Browsers send Basic by themselves, other sites' requests
    /// included, so callers accept it for reading alone.
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
