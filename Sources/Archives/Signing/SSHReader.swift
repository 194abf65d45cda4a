/// Reads what SSH writes (RFC 4251, section 5): numbers with the highest byte first, strings after their length.
struct SSHReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }
    /// What is left.
    var remaining: [UInt8] { Array(rest) }

    /// The next bytes; nothing when there are fewer.
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

    /// A string that must be just this one.
    mutating func expect(_ text: String) -> Bool { string().map { $0.elementsEqual(text.utf8) } ?? false }
}

/// Writes the same.
enum SSHWriter {
    static func number(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }

    static func string(_ bytes: [UInt8]) -> [UInt8] { number(UInt32(bytes.count)) + bytes }

    static func string(_ text: String) -> [UInt8] { string(Array(text.utf8)) }
}
