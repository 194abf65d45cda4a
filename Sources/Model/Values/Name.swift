/// The name of a bot, configuration, product, job or trigger: `[a-z0-9][a-z0-9._-]{0,63}`.
///
/// Names become paths, and recipes are hostile, so names have no separator, no upper case and no leading dot.
package struct Name: Hashable, Sendable, Codable, Comparable, CustomStringConvertible {
    /// The longest name, in characters (each is one byte).
    package static let maximumLength = 64
    /// A regular expression (ECMA-262) that matches names and nothing else.
    package static let pattern = "[a-z0-9][a-z0-9._-]{0,63}"

    package let description: String

    /// Creates a name.
    /// - Returns: `nil` if `string` is not a valid name.
    package init?(_ string: some StringProtocol) {
        let bytes = string.utf8
        guard let first = bytes.first, bytes.count <= Self.maximumLength else { return nil }
        guard Self.isLetterOrDigit(first), bytes.allSatisfy({ Self.isLetterOrDigit($0) || "._-".utf8.contains($0) })
        else { return nil }
        description = String(string)
    }

    /// Creates the nearest valid name: in lower case, with a hyphen for every other character.
    ///
    /// Use it for names from elsewhere, such as a SwiftPM product or the last path component of a repository.
    /// - Parameter fallback: The name if no character is left.
    package init(nearest string: some StringProtocol, fallback: StaticString = "unnamed") {
        var bytes: [UInt8] = []
        for byte in string.lowercased().utf8.prefix(Self.maximumLength) {
            let isKept = Self.isLetterOrDigit(byte) || (!bytes.isEmpty && "._-".utf8.contains(byte))
            if isKept { bytes.append(byte) } else if !bytes.isEmpty { bytes.append(UInt8(ascii: "-")) }
        }
        while let last = bytes.last, !Self.isLetterOrDigit(last) { bytes.removeLast() }
        description = bytes.isEmpty ? "\(fallback)" : String(decoding: bytes, as: UTF8.self)
    }

    package static func < (left: Name, right: Name) -> Bool { left.description < right.description }

    package init(from decoder: any Decoder) throws {
        let string = try decoder.singleValueContainer().decode(String.self)
        guard let name = Name(string) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not a name: \(string.prefix(80))"))
        }
        self = name
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
