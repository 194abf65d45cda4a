/// A reader of SSH's data types (RFC 4251, section 5): numbers in big-endian order, and strings after their length.
struct SSHReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }
    /// The bytes that are not read yet.
    var remaining: [UInt8] { Array(rest) }

    /// Returns the next bytes; `nil` if there are fewer.
    mutating func take(_ count: Int) -> [UInt8]? {
        guard count >= 0, count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    mutating func number() -> UInt32? { take(4)?.reduce(0) { $0 << 8 | UInt32($1) } }

    mutating func string() -> [UInt8]? {
        guard let count = number() else { return nil }
        return take(Int(count))
    }

    /// Reads a string, and returns whether it equals a text.
    mutating func expect(_ text: String) -> Bool { string().map { $0.elementsEqual(text.utf8) } ?? false }
}

/// A writer of SSH's data types.
enum SSHWriter {
    static func number(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }

    static func string(_ bytes: [UInt8]) -> [UInt8] { number(UInt32(bytes.count)) + bytes }

    static func string(_ text: String) -> [UInt8] { string(Array(text.utf8)) }
}
