/// The name of a package in a Swift package registry: `scope.name` (SwiftPM's "Swift Package Registry Service Specification", sections 3.6.1 and
/// 3.6.2). Identifiers that differ only in case are equal.
package struct PackageIdentifier: Sendable, Codable, CustomStringConvertible {
    /// 1–39 letters, digits and single inner hyphens, as written.
    package let scope: String
    /// 1–100 letters, digits, and single inner hyphens and underscores, as written.
    package let name: String

    /// Creates an identifier.
    /// - Returns: `nil` if the scope or the name is not valid.
    package init?(scope: String, name: String) {
        guard Self.isWord(scope, separators: "-", longest: 39), Self.isWord(name, separators: "-_", longest: 100) else {
            return nil
        }
        self.scope = scope
        self.name = name
    }

    /// Parses `scope.name`.
    /// - Returns: `nil` if the text is not a valid identifier.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        self.init(scope: String(parts[0]), name: String(parts[1]))
    }

    /// The spelling that all equal identifiers share.
    package var key: String { description.lowercased() }

    package var description: String { "\(scope).\(name)" }

    private static func isWord(_ text: String, separators: String, longest: Int) -> Bool {
        let bytes = Array(text.utf8)
        guard (1...longest).contains(bytes.count) else { return false }
        for (index, byte) in bytes.enumerated() {
            if isAlphanumeric(byte) { continue }
            // No separator at either end, and no two side by side.
            guard separators.utf8.contains(byte), index > 0, index + 1 < bytes.count, isAlphanumeric(bytes[index + 1])
            else { return false }
        }
        return true
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }

    package init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let identifier = PackageIdentifier(text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not scope.name: \(text.prefix(80))"))
        }
        self = identifier
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension PackageIdentifier: Hashable {
    package static func == (left: PackageIdentifier, right: PackageIdentifier) -> Bool { left.key == right.key }

    package func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
