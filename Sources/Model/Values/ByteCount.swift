/// A number of bytes.
package struct ByteCount: Hashable, Sendable, Comparable, Codable, CustomStringConvertible {
    package let bytes: Int64

    package init(_ bytes: Int64) { self.bytes = bytes }
    /// Returns a number of KiB (1024 bytes each).
    package static func kibibytes(_ count: Int64) -> ByteCount { .init(count << 10) }
    /// Returns a number of MiB (1024 KiB each).
    package static func mebibytes(_ count: Int64) -> ByteCount { .init(count << 20) }
    /// Returns a number of GiB (1024 MiB each).
    package static func gibibytes(_ count: Int64) -> ByteCount { .init(count << 30) }

    package static func < (left: ByteCount, right: ByteCount) -> Bool { left.bytes < right.bytes }

    /// The number in binary units with at most one decimal, for display: `512 B`, `1.5 KiB`, `64 MiB`.
    package var description: String {
        guard bytes >= 1024 else { return "\(bytes) B" }
        var unit = 0
        // Divides first if ten times the number would overflow.
        var tenths = bytes > Int64.max / 10 ? bytes / 1024 * 10 : bytes * 10 / 1024
        while tenths >= 10_240, unit < 3 {
            tenths /= 1024
            unit += 1
        }
        let name = ["KiB", "MiB", "GiB", "TiB"][unit]
        return tenths % 10 == 0 || tenths >= 1000 ? "\(tenths / 10) \(name)" : "\(tenths / 10).\(tenths % 10) \(name)"
    }

    /// Decodes a number.
    /// - Throws: `DecodingError` if it is not a number, or is negative.
    package init(from decoder: any Decoder) throws {
        bytes = try decoder.singleValueContainer().decode(Int64.self)
        guard bytes >= 0 else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "\(bytes) is not a number of bytes"))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(bytes)
    }
}
