/// A source of identifiers: random ones in the product, seeded ones in tests.
package protocol IdentifierSource: Sendable {
    /// Returns a new identifier: 26 characters of `a`–`z` and `2`–`7`.
    func next() -> String
}

/// A source of identifiers that cannot be guessed.
package struct RandomIdentifiers: IdentifierSource {
    package init() {}

    /// Returns 128 random bits of the system's generator as lower-case base32 (RFC 4648, section 6) without padding.
    package func next() -> String {
        var generator = SystemRandomNumberGenerator()
        return Base32.encode(high: generator.next(), low: generator.next())
    }
}

/// Base32 of 128 bits.
package enum Base32 {
    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

    /// Returns 26 characters, with the most significant bits first. The last character holds the three remaining bits.
    package static func encode(high: UInt64, low: UInt64) -> String {
        var rest = UInt128(high) << 64 | UInt128(low)
        var characters: [UInt8] = []
        for _ in 0..<26 {
            characters.append(alphabet[Int(rest >> 123)])
            rest <<= 5
        }
        return String(decoding: characters, as: UTF8.self)
    }

    /// Whether `encode` could have produced these characters: 26 of the alphabet.
    static func isEncoded(_ characters: some Collection<UInt8>) -> Bool {
        characters.count == 26 && characters.allSatisfy { alphabet.contains($0) }
    }
}
