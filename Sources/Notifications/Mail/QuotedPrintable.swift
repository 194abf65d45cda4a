import Encodings

/// Encodes text for a mail (RFC 2045, section 6.7), as ASCII in lines of at most 76 bytes that end with CR and LF.
package enum QuotedPrintable {
    /// The longest line in bytes, without its CR and LF. The last byte is the `=` of a continued line.
    static let maximumLine = 76

    static func encode(_ text: String) -> [UInt8] {
        var output: [UInt8] = []
        for line in text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false) {
            append(line, to: &output)
            output += [0x0D, 0x0A]
        }
        return output
    }

    private static func append(_ line: Substring.UTF8View, to output: inout [UInt8]) {
        var used = 0
        // Programs that keep many mails in one file take a line that begins with `From ` for the next mail.
        let isSeparator = line.starts(with: "From ".utf8)
        for (index, byte) in zip(line.indices, line) {
            let isLast = line.index(after: index) == line.endIndex
            let isPlain: Bool =
                switch byte {
                case UInt8(ascii: "="): false
                case UInt8(ascii: "F") where isSeparator && index == line.startIndex: false
                case UInt8(ascii: " "), 0x09: !isLast
                case 0x21...0x7E: true
                default: false
                }
            let size = isPlain ? 1 : 3
            if used + size > maximumLine - 1 {
                output += "=\r\n".utf8
                used = 0
            }
            if isPlain {
                output.append(byte)
            } else {
                output.append(UInt8(ascii: "="))
                output += Hexadecimal.digits(of: byte, isUppercase: true)
            }
            used += size
        }
    }
}
