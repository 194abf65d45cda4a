/// Percent-encoding (RFC 3986, section 2.1).
package enum PercentEncoding {
    /// Encodes everything except the unreserved characters (section 2.3). The result is therefore one path segment or one query value for any text.
    /// `+` is encoded, too, because it means a space in a query.
    /// - Parameter kept: Further ASCII characters that are not encoded.
    package static func encode(_ text: some StringProtocol, keeping kept: String = "") -> String {
        var result: [UInt8] = []
        result.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if isUnreserved(byte) || kept.utf8.contains(byte) {
                result.append(byte)
            } else {
                result.append(UInt8(ascii: "%"))
                result.append(contentsOf: Hexadecimal.digits(of: byte, isUppercase: true))
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Encodes a path, segment by segment: slashes are kept. A colon is encoded, too, since it would make the beginning of a relative path a scheme.
    package static func encode(path: some StringProtocol) -> String { encode(path, keeping: "/") }

    /// Decodes a text.
    /// - Returns: `nil` if a `%` is not followed by two hexadecimal digits, or the result is not UTF-8 or contains a NUL.
    package static func decode(_ text: String) -> String? {
        let (bytes, isValid) = bytes(of: text)
        return isValid && !bytes.contains(0) ? String(validating: bytes, as: UTF8.self) : nil
    }

    /// Decodes a text that other programs wrote carelessly. A percent sign without two hexadecimal digits stays; bytes that are not UTF-8 become
    /// U+FFFD.
    package static func decodeLeniently(_ text: String) -> String {
        text.utf8.contains(UInt8(ascii: "%")) ? String(decoding: bytes(of: text).bytes, as: UTF8.self) : text
    }

    /// Returns the decoded bytes, and whether two hexadecimal digits follow each percent sign.
    private static func bytes(of text: String) -> (bytes: [UInt8], isValid: Bool) {
        var (result, isValid): ([UInt8], Bool) = ([], true)
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                result.append(byte)
                continue
            }
            let digits = rest.prefix(2).compactMap(Hexadecimal.digit)
            guard digits.count == 2 else {
                isValid = false
                result.append(byte)
                continue
            }
            result.append(digits[0] << 4 | digits[1])
            rest = rest.dropFirst(2)
        }
        return (result, isValid)
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
