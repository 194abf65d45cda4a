/// The last answer of an SMTP server (RFC 5321, section 4.2.1), with a code and the text of one or several lines, and
/// the command that it answers.
struct MailReply {
    /// The progress of the dialogue, by the last command.
    enum Step: Int, Comparable {
        /// The greeting, EHLO, STARTTLS or AUTH.
        case beginning
        /// MAIL.
        case sender
        /// RCPT.
        case recipient
        /// DATA.
        case data
        /// The server asked for the content of the mail.
        case text

        static func < (left: Step, right: Step) -> Bool { left.rawValue < right.rawValue }
    }

    /// The size limit of the text in bytes. The longest line has 512 (section 4.5.3.1.5).
    static let maximumBytes = 1024

    /// The code; 0 before the first complete answer.
    private(set) var code = 0
    private(set) var words = ""
    private(set) var step = Step.beginning
    /// Whether it is the answer to the content of the mail.
    private(set) var isOfMail = false
    /// Whether the server accepted the user and the password.
    private(set) var isKnown = false
    private var lines: [String] = []
    private var size = 0

    /// Records a command that is sent. The data of AUTH cannot be mistaken for a command: it is Base64, which has no
    /// blank.
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

    /// Records a line that is received.
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
        // 221 is the answer to QUIT, which does not concern the mail.
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

    /// Whether the server refused the command, temporarily (4yz) or permanently (5yz).
    var isRefusal: Bool { (400..<600).contains(code) }
}
