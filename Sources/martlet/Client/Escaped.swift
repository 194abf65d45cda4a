/// A function that makes text safe for URLs.
enum Escaped {
    /// Percent-encodes a path segment or query value, except for RFC 3986's unreserved characters.
    static func segment(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            let scalar = Unicode.Scalar(byte)
            let isUnreserved =
                scalar.properties.isAlphabetic && byte < 0x80 || ("0"..."9").contains(scalar)
                || "-._~".unicodeScalars.contains(scalar)
            if isUnreserved {
                result.unicodeScalars.append(scalar)
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                result += "%" + (digits.count == 1 ? "0" : "") + digits
            }
        }
        return result
    }
}
