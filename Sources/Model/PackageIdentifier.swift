/// What a package is called in a Swift package registry: `scope.name`, as SwiftPM's "Swift Package Registry Service Specification" has it
/// (sections 3.6.1 and 3.6.2). Two that differ in case alone are the same.
package struct PackageIdentifier: Sendable, Codable, CustomStringConvertible {
    /// 1–39 letters, digits and single hyphens inside, as it was written.
    package let scope: String
    /// 1–100 letters, digits, and single hyphens and underscores inside, as it was written.
    package let name: String

    /// Nothing where one of the two is none.
    package init?(scope: String, name: String) {
        guard Self.isWord(scope, separators: "-", longest: 39), Self.isWord(name, separators: "-_", longest: 100) else {
            return nil
        }
        self.scope = scope
        self.name = name
    }

    /// Reads `scope.name`.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        self.init(scope: String(parts[0]), name: String(parts[1]))
    }

    /// The one spelling of all that are the same.
    package var key: String { description.lowercased() }

    package var description: String { "\(scope).\(name)" }

    private static func isWord(_ text: String, separators: String, longest: Int) -> Bool {
        let bytes = Array(text.utf8)
        guard (1...longest).contains(bytes.count) else { return false }
        for (index, byte) in bytes.enumerated() {
            if isAlphanumeric(byte) { continue }
            // None at an end, no two side by side.
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
