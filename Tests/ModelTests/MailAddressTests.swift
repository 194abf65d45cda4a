import Model
import Testing

@Suite struct MailAddressTests {
    @Test(
        arguments: [
            ("ci@acme.example", nil, "ci@acme.example"), ("Martlet <ci@acme.example>", "Martlet", "ci@acme.example"),
            ("\"Acme, CI\" <a.b+c@x>", "Acme, CI", "a.b+c@x"), ("<ci@acme.example>", nil, "ci@acme.example"),
            ("Jörg <j@x.example>", "Jörg", "j@x.example"),
        ] as [(String, String?, String)])
    func testThatItReadsBothForms(_ text: String, _ name: String?, _ address: String) throws {
        let read = try #require(MailAddress(text))
        #expect((read.name, read.address) == (name, address))
        #expect(MailAddress(read.description) == read)
        #expect(MailAddress("A <b@ACME.Example>")?.domain == "acme.example")
    }

    @Test(arguments: [
        "", "ci", "@acme.example", "ci@", "a b@c", "a@b@c", "a@b..c", ".a@b", "a.@b", "a..b@c", "a@-b", "a@b-", "a@b c",
        "a\r\nBcc: x@y", "a@b\r\nBcc: x", "a@[127.0.0.1]", "\"a\"@b", "ä@b", "a@ä", "a@b>", "a<b@c",
        String(repeating: "a", count: 65) + "@b", "a@" + String(repeating: "b", count: 64),
        "a@" + String(repeating: "b.", count: 126) + "c",
    ])
    func testX6ThatOddAddressesAreNone(_ text: String) {
        #expect(MailAddress(text) == nil)
        #expect(MailAddress("x <\(text)>") == nil)
    }

    @Test func testThatTheLongestIsTaken() {
        let local = String(repeating: "a", count: 64)
        #expect(MailAddress("\(local)@b.example") != nil)
        let labels = [63, 63, 59].map { String(repeating: "b", count: $0) }.joined(separator: ".") + "."
        #expect(MailAddress("\(local)@\(labels)c")?.address.utf8.count == 254)
        #expect(MailAddress("\(local)@\(labels)cc") == nil)
    }
}
