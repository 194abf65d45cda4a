import Basics

/// Percent-encoding (RFC 3986, section 2.1).
package enum PercentEncoding {
    /// Encodes everything except the unreserved characters (section 2.3). The result is therefore one path segment or one query value for any text.
    /// `+` is encoded, too, because it means a space in a query.
    package static func encode(_ text: String) -> String {
        var result: [UInt8] = []
        for byte in text.utf8 {
            if isUnreserved(byte) {
                result.append(byte)
            } else {
                result.append(UInt8(ascii: "%"))
                result.append(contentsOf: Hexadecimal.encode([byte]).uppercased().utf8)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Decodes a text.
    /// - Returns: `nil` if a `%` is not followed by two hexadecimal digits, or the result is not UTF-8 or contains a NUL.
    package static func decode(_ text: String) -> String? {
        var result: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                result.append(byte)
                continue
            }
            guard rest.count >= 2, let value = Hexadecimal.decode(String(decoding: rest.prefix(2), as: UTF8.self))
            else {
                return nil
            }
            result += value
            rest = rest.dropFirst(2)
        }
        guard !result.contains(0) else { return nil }
        return String(validating: result, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~".utf8.contains(byte)
        }
    }
}
