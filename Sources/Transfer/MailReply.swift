/// An SMTP server's last answer (RFC 5321, section 4.2.1): a code, and words in one line or several.
struct MailReply {
    /// The most bytes that are kept of the words; the longest line is 512 (section 4.5.3.1.5).
    static let maximumBytes = 1024

    /// 0 before the first whole answer.
    private(set) var code = 0
    private(set) var words = ""
    private var lines: [String] = []
    private var size = 0

    /// Takes one line as it comes.
    mutating func append(_ line: UnsafeRawBufferPointer) {
        let text = String(decoding: line.prefix(Self.maximumBytes), as: UTF8.self)
        let digits = text.utf8.prefix(3)
        guard digits.count == 3, let number = Int(String(decoding: digits, as: UTF8.self)), number >= 200 else {
            return
        }
        let rest = text.unicodeScalars.dropFirst(3)
        if size < Self.maximumBytes {
            let shown = String(
                String.UnicodeScalarView(rest.dropFirst().filter { $0.properties.generalCategory != .control }))
            lines.append(shown)
            size += shown.utf8.count
        }
        if rest.first == "-" { return }
        // 221 is the farewell, which says nothing of the mail.
        if number != 221 { (code, words) = (number, lines.joined(separator: " ")) }
        (lines, size) = ([], 0)
    }

    /// Whether the server refused, for now (4yz) or for good (5yz).
    var isRefusal: Bool { (400..<600).contains(code) }
}
