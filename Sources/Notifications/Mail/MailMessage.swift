import Glibc
import Model

/// A mail in the form that a server receives (RFC 5322): one part of plain text in UTF-8.
package struct MailMessage: Sendable, Hashable {
    var from: MailAddress
    /// The recipients, at least one.
    var to: [MailAddress]
    var subject: String
    /// The text, in lines that end with `\n`.
    var text: String
    /// The id, `local@domain` without brackets. It is the same each time the mail is sent, so that a duplicate is recognized.
    var id: String
    /// The id of the mail that this one follows; `nil` if it follows none.
    var inReplyTo: String?
    /// The name of the list (RFC 2919), by which mail programs sort.
    var list: String
    var date: Timestamp

    /// The most characters of a subject.
    static let maximumSubject = 200
    /// The most bytes of the text; a message usually has about 3 KiB.
    static let maximumText = 64 << 10

    /// Returns the mail in lines that end with CR and LF. A dot at the beginning of a line is not doubled; the transport does that.
    func bytes() -> [UInt8] {
        var header = ""
        func add(_ name: String, _ value: String) { header += "\(name): \(value)\r\n" }
        add("Date", Self.date(date))
        add("From", HeaderText.mailbox(from, after: 6))
        add("To", to.map { HeaderText.mailbox($0, after: 4) }.joined(separator: ",\r\n "))
        add("Subject", HeaderText.encode(OneLine.text(subject, maximum: Self.maximumSubject), after: 9))
        add("Message-ID", "<\(id)>")
        if let inReplyTo {
            add("In-Reply-To", "<\(inReplyTo)>")
            add("References", "<\(inReplyTo)>")
        }
        add("List-Id", "<\(list)>")
        // RFC 3834: prevents automatic replies.
        add("Auto-Submitted", "auto-generated")
        add("MIME-Version", "1.0")
        add("Content-Type", "text/plain; charset=utf-8")
        add("Content-Transfer-Encoding", "quoted-printable")
        var text = text
        while text.hasSuffix("\n") { text.removeLast() }
        return Array(header.utf8) + [0x0D, 0x0A] + QuotedPrintable.encode(text.cut(toBytes: Self.maximumText))
    }

    /// Returns a date (RFC 5322, section 3.3). The names are English, because the process never sets a locale.
    private static func date(_ time: Timestamp) -> String {
        var seconds = time_t(time.millisecondsSinceEpoch / 1000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 64)
        let count = strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S +0000", &parts)
        return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension String {
    /// Returns the text cut to at most this many bytes, without splitting a Unicode scalar.
    func cut(toBytes maximum: Int) -> String {
        guard utf8.count > maximum else { return self }
        var end = utf8.index(startIndex, offsetBy: maximum)
        while end > startIndex, utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
        return String(self[..<end])
    }
}
