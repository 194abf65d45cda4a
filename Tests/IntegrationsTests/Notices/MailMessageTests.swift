import Foundation
import Model
import TestSupport
import Testing

@testable import Integrations
@testable import Notifications

@Suite struct MailMessageTests {
    private func message(subject: String = "hello", text: String = "a\n", name: String? = "Martlet") throws
        -> MailMessage
    {
        MailMessage(
            from: try #require(MailAddress(name: name, address: "ci@acme.example")),
            to: [try #require(MailAddress("ann@acme.example")), try #require(MailAddress("Bob <bob@acme.example>"))],
            subject: subject, text: text, id: "kit.41.abc@acme.example", list: "kit.martlet.acme.example",
            date: Timestamp(secondsSinceEpoch: 1_772_366_520))
    }

    private func text(_ message: MailMessage) -> String { String(decoding: message.bytes(), as: UTF8.self) }

    @Test func testThatItIsWrittenAsRFC5322Says() throws {
        var message = try message(text: "one = 1\nJörg \n\nFrom here\n.\n")
        message.inReplyTo = "kit.39.def@acme.example"
        expectNoDifference(
            text(message),
            """
            Date: Sun, 01 Mar 2026 12:02:00 +0000
            From: Martlet <ci@acme.example>
            To: ann@acme.example,
             Bob <bob@acme.example>
            Subject: hello
            Message-ID: <kit.41.abc@acme.example>
            In-Reply-To: <kit.39.def@acme.example>
            References: <kit.39.def@acme.example>
            List-Id: <kit.martlet.acme.example>
            Auto-Submitted: auto-generated
            MIME-Version: 1.0
            Content-Type: text/plain; charset=utf-8
            Content-Transfer-Encoding: quoted-printable

            one =3D 1
            J=C3=B6rg=20

            =46rom here
            .

            """.replacing("\n", with: "\r\n"))
    }

    @Test(
        .proves(.notices, "Subject, names and text of others stay in their line, header and size (X6, T1)"),
        arguments: [
            "Jörg \u{1F600} mends it", "=?UTF-8?B?QmNjOg==?=", String(repeating: "ä", count: 190), " blank first",
            String(repeating: "word ", count: 30), "a\r\nBcc: eve@x.example", "\u{FEFF}x",
        ])
    func testX6ThatASubjectIsReadBackAndEndsNoLine(_ subject: String) async throws {
        // when
        let message = try message(subject: subject)
        let header = text(message).components(separatedBy: "\r\n\r\n")[0]
        // then
        let names = header.components(separatedBy: "\r\n").filter { !$0.hasPrefix(" ") }.map { $0.prefix { $0 != ":" } }
        #expect(!names.contains("Bcc") && names.count == 10)
        #expect(
            header.components(separatedBy: "\r\n").allSatisfy {
                $0.utf8.count <= 76 && $0.utf8.allSatisfy { $0 < 0x7F }
            })
        let encoded = header.components(separatedBy: "\r\n ").joined(separator: " ")
            .components(separatedBy: "\r\n").first { $0.hasPrefix("Subject: ") }?.dropFirst(9)
        #expect(HeaderText.decoded(String(encoded ?? "")) == OneLine.text(subject, maximum: 200))
    }

    @Test(
        .proves(.notices, "Subject, names and text of others stay in their line, header and size (X6, T1)"),
        arguments: [
            "Acme, CI", "a\" <eve@x.example>, \"b", "Jörg", "a\r\nBcc: eve@x.example", "", "  ", "(comment)",
            String(repeating: "long name ", count: 20),
        ])
    func testX6ThatANameEndsNoMailbox(_ name: String) throws {
        let header = text(try message(name: name)).components(separatedBy: "\r\nTo:")[0]
        #expect(header.components(separatedBy: "@").count == 2, "\(header)")
        #expect(header.hasSuffix("ci@acme.example") || header.hasSuffix(" <ci@acme.example>"))
        #expect(!header.contains("\r\nBcc") && !header.contains("\"") && !header.contains("("))
    }

    @Test func testThatLongLinesAreBrokenAndReadBack() throws {
        let long = String(repeating: "wörd=", count: 500) + "\n" + String(repeating: ".", count: 200) + " \t\n"
        let bytes = QuotedPrintable.encode(long)
        let lines = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n")
        #expect(lines.allSatisfy { $0.utf8.count <= 76 && !$0.contains("\n") })
        #expect(QuotedPrintable.decoded(bytes) == long + "\n")
    }

    @Test func testThatAMailHasALimit() throws {
        let message = try message(text: String(repeating: "ä", count: 100_000))
        #expect(message.bytes().count < 4 * MailMessage.maximumText)
    }
}

extension HeaderText {
    /// Decodes as a reader does by RFC 2047: blanks between encoded words do not count.
    static func decoded(_ text: String) -> String {
        let words = text.split(separator: " ")
        guard !words.isEmpty, words.allSatisfy({ $0.hasPrefix("=?UTF-8?B?") && $0.hasSuffix("?=") }) else {
            return text
        }
        return words.map { word in
            let data = Data(base64Encoded: String(word.dropFirst(10).dropLast(2))) ?? Data()
            // Each word is decoded by itself: none may end within a character.
            return String(validating: data, as: UTF8.self) ?? "?"
        }.joined()
    }
}

extension QuotedPrintable {
    static func decoded(_ bytes: [UInt8]) -> String {
        let joined = String(decoding: bytes, as: UTF8.self).replacing("=\r\n", with: "").replacing("\r\n", with: "\n")
        var output: [UInt8] = []
        var rest = Array(joined.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "=") {
                output.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) ?? 0x3F)
                rest = rest.dropFirst(2)
            } else {
                output.append(byte)
            }
        }
        return String(decoding: output, as: UTF8.self)
    }
}
