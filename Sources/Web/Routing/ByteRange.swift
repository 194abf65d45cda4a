/// The range of a `Range: bytes=…` header (RFC 9110, section 14.1.2). Only a single range is served.
package enum ByteRange: Sendable, Hashable {
    /// No header, another unit, several ranges or a malformed header: the whole file is sent. RFC 9110, section 14.2, allows this, and several ranges
    /// would let a small request cause much work.
    case whole
    /// A range of at least one byte inside the file.
    case part(Range<Int64>)
    /// The range lies outside the file: 416.
    case unsatisfiable

    /// Parses a `Range` header.
    /// - Parameters:
    ///   - header: The header's value; `nil` if there is none.
    ///   - size: The size of the file, in bytes.
    package init(header: String?, size: Int64) {
        guard let header, header.utf8.count <= 200, header.hasPrefix("bytes=") else {
            self = .whole
            return
        }
        let parts = header.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, !header.contains(",") else {
            self = .whole
            return
        }
        let (first, last) = (Self.number(parts[0]), Self.number(parts[1]))
        switch (parts[0].isEmpty, parts[1].isEmpty, first, last) {
        case (true, false, _, let suffix?):
            self = suffix == 0 || size == 0 ? .unsatisfiable : .part(max(0, size - suffix)..<size)
        case (false, true, let first?, _):
            self = first < size ? .part(first..<size) : .unsatisfiable
        case (false, false, let first?, let last?):
            if last < first {
                self = .whole
            } else {
                self = first < size ? .part(first..<min(last, size - 1) + 1) : .unsatisfiable
            }
        default: self = .whole
        }
    }

    /// Parses decimal digits. A number too large for 64 bits becomes `Int64.max`.
    /// - Returns: `nil` if the text is empty or has other characters.
    private static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int64(text) ?? .max
    }
}
