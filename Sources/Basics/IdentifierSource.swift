/// Where identifiers come from: random ones in the product, seeded ones in tests.
package protocol IdentifierSource: Sendable {
    /// A new identifier: 26 characters of `a`–`z` and `2`–`7`.
    func next() -> String
}

/// Identifiers that nobody can guess.
package struct RandomIdentifiers: IdentifierSource {
    package init() {}

    /// 128 random bits of the system's generator as lower-case base32 (RFC 4648 section 6) without padding.
    package func next() -> String {
        var generator = SystemRandomNumberGenerator()
        return Base32.encode(high: generator.next(), low: generator.next())
    }
}

/// Base32 of 128 bits.
package enum Base32 {
    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

    /// 26 characters, the most significant bits first; the last character carries the two bits that are left over.
    package static func encode(high: UInt64, low: UInt64) -> String {
        var rest = UInt128(high) << 64 | UInt128(low)
        var characters: [UInt8] = []
        for _ in 0..<26 {
            characters.append(alphabet[Int(rest >> 123)])
            rest <<= 5
        }
        return String(decoding: characters, as: UTF8.self)
    }

    /// Whether `encode` could have written these characters.
    static func isEncoded(_ characters: some Collection<UInt8>) -> Bool {
        characters.count == 26 && characters.allSatisfy { alphabet.contains($0) }
    }
}
