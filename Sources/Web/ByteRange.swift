/// The one range of a `Range: bytes=…` header that is served (RFC 9110, section 14.1.2).
package enum ByteRange: Sendable, Hashable {
    /// No header, another unit, several ranges or a malformed header: the whole is sent (section 14.2 allows it, and
    /// several ranges would only let a small request cost a lot).
    case whole
    /// Of at least one byte, inside of the file.
    case part(Range<Int64>)
    /// Nothing of it lies in the file: 416.
    case unsatisfiable

    /// - Parameter size: The file's, in bytes.
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

    /// Digits alone; what is too large for 64 bits counts as the largest number.
    private static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int64(text) ?? .max
    }
}
