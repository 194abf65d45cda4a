import Foundation
import Model

/// Encodes text for a mail's header (RFC 2047). ASCII stays as it is, and other text becomes base64 words without line breaks.
package enum HeaderText {
    /// The longest encoded word, and the longest line with one (RFC 2047, section 2), in bytes.
    private static let maximumWord = 75
    private static let maximumLine = 76
    private static let before = "=?UTF-8?B?"
    private static let after = "?="

    /// Returns the text in encoded form.
    /// - Parameter used: The number of bytes of the line that are used already, such as by the header's name.
    static func encode(_ text: String, after used: Int) -> String {
        let isPlain = text.utf8.allSatisfy { (0x20...0x7E).contains($0) } && !text.contains("=?")
        if isPlain, used + text.utf8.count <= maximumLine, !text.hasPrefix(" "), !text.hasSuffix(" ") { return text }
        return words(text, after: used)
    }

    private static func words(_ text: String, after used: Int) -> String {
        var words: [String] = []
        var word: [UInt8] = []
        // A word ends before the first character that does not fit, because each word is decoded by itself (section 5).
        var room = bytes(in: maximumLine - used)
        for character in text.unicodeScalars {
            let encoded = Array(String(character).utf8)
            if word.count + encoded.count > room {
                words.append(wrapped(word))
                word = []
                room = bytes(in: maximumLine - 1)
            }
            word += encoded
        }
        if !word.isEmpty { words.append(wrapped(word)) }
        return words.joined(separator: "\r\n ")
    }

    /// Returns a mailbox for From and To: `name <address>`. The name is encoded if it has other characters than ASCII letters, digits and spaces, or
    /// is too long.
    static func mailbox(_ address: MailAddress, after used: Int) -> String {
        guard let name = address.name.map({ OneLine.text($0, maximum: 100) }), !name.isEmpty else {
            return address.address
        }
        let isAtoms = name.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x20
        }
        let line = "\(name) <\(address.address)>"
        if isAtoms, used + line.utf8.count <= maximumLine { return line }
        // An encoded name needs no quotes, and no character in it can end them.
        return "\(words(name, after: used))\r\n <\(address.address)>"
    }

    private static func bytes(in line: Int) -> Int {
        max(4, (min(line, maximumWord) - before.utf8.count - after.utf8.count) / 4 * 3)
    }

    private static func wrapped(_ bytes: [UInt8]) -> String { before + Data(bytes).base64EncodedString() + after }
}
