import FoundationEssentials

/// The encoding of JSON files that are published.
package enum PublishedJSON {
    /// Returns a value as JSON with sorted keys and a line break at its end. The same value gives the same bytes.
    package static func encode(_ value: some Encodable, isPretty: Bool = true) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
        return Array(try encoder.encode(value)) + [UInt8(ascii: "\n")]
    }
}
