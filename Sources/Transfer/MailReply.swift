/// An SMTP server's last answer (RFC 5321, section 4.2.1): a code, and words in one line or several; and what it is of.
struct MailReply {
    /// How far the dialogue has come, by the last command.
    enum Step: Int, Comparable {
        /// The greeting, EHLO, STARTTLS, AUTH.
        case beginning
        /// MAIL.
        case sender
        /// RCPT.
        case recipient
        /// DATA.
        case data
        /// The server asked for the mail itself.
        case text

        static func < (left: Step, right: Step) -> Bool { left.rawValue < right.rawValue }
    }

    /// The most bytes that are kept of the words; the longest line is 512 (section 4.5.3.1.5).
    static let maximumBytes = 1024

    /// 0 before the first whole answer.
    private(set) var code = 0
    private(set) var words = ""
    private(set) var step = Step.beginning
    /// Whether it says what became of the mail.
    private(set) var isOfMail = false
    /// Whether the server took the user and the password.
    private(set) var isKnown = false
    private var lines: [String] = []
    private var size = 0

    /// Takes a command as it goes. What AUTH sends is base64, which has no blank.
    mutating func sent(_ line: UnsafeRawBufferPointer) {
        let begin = String(decoding: line.prefix(10), as: UTF8.self)
        if begin == "MAIL FROM:" {
            step = .sender
        } else if begin.hasPrefix("RCPT TO:") {
            step = .recipient
        } else if begin.hasPrefix("DATA"), step == .recipient {
            step = .data
        }
    }

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
        if number != 221, !isOfMail { take(number, lines.joined(separator: " ")) }
        (lines, size) = ([], 0)
    }

    private mutating func take(_ number: Int, _ said: String) {
        (code, words) = (number, said)
        switch number {
        case 235: isKnown = true
        case 354 where step == .data: step = .text
        default: isOfMail = step == .text
        }
    }

    /// Whether the server refused, for now (4yz) or for good (5yz).
    var isRefusal: Bool { (400..<600).contains(code) }
}
