/// The id of a git commit: 40 lower-case hexadecimal digits (SHA-1) or 64 (SHA-256).
package struct CommitID: Hashable, Sendable, Codable, CustomStringConvertible {
    package let description: String

    /// Creates an id from its full hexadecimal form. Abbreviations and revision expressions are refused, because only
    /// git can resolve them.
    /// - Returns: `nil` if the text is not such an id.
    package init?(_ string: some StringProtocol) {
        guard string.utf8.count == 40 || string.utf8.count == 64 else { return nil }
        let isHexadecimal = string.utf8.allSatisfy {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
        }
        guard isHexadecimal else { return nil }
        description = String(string)
    }

    /// The first twelve digits, for display.
    package var abbreviated: String { String(description.prefix(12)) }

    /// Whether this is git's "no commit" (all zeros): the old id of a created ref, or the new id of a deleted one.
    package var isZero: Bool { description.utf8.allSatisfy { $0 == UInt8(ascii: "0") } }

    package init(from decoder: any Decoder) throws {
        let string = try decoder.singleValueContainer().decode(String.self)
        guard let id = CommitID(string) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not a commit id: \(string.prefix(80))"))
        }
        self = id
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
