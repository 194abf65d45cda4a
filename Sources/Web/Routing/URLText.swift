/// Functions that make text safe for URLs.
enum URLText {
    /// Percent-encodes all but RFC 3986's unreserved characters, so that the result is one segment or query value.
    static func segment(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += "%" + (digits.utf8.count < 2 ? "0" : "") + digits
            }
        }
        return encoded
    }

    /// Percent-encodes a relative path, segment by segment.
    static func path(_ text: String) -> String {
        text.split(separator: "/", omittingEmptySubsequences: false).map { segment(String($0)) }.joined(separator: "/")
    }
}
