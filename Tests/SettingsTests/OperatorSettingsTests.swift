import Model
import TestSupport
import Testing

@testable import Settings

@Suite struct OperatorSettingsTests {
    private static let mail = "mail: { server: smtps://mail.acme.example, from: ci@acme.example }\n"

    private static func read(_ text: String) -> Reading<ServiceSettings> {
        SettingsReader.read(
            yaml: text, file: "martlet.yml",
            defaults: .init(file: "martlet.yml", state: "/s", bots: "/b", secrets: nil, concurrency: 1))
    }

    @Test func testThatAnOperatorIsReadWithItsDefaults() {
        #expect(Self.read("").value?.operators == nil)
        let both = Self.read(
            Self.mail + "operator: { mail: [a@b.example, c@d.example], webhook: https://h.example/1, secret: ops }")
        #expect(both.errors.isEmpty)
        #expect(both.value?.operators?.mail.map(\.address) == ["a@b.example", "c@d.example"])
        #expect(both.value?.operators?.webhook == "https://h.example/1")
        #expect(both.value?.operators?.secret == "ops")
        #expect(Self.read("audit: 30d\nlog: { level: debug, requests: true }").value?.auditAge == .seconds(30 * 86_400))
        #expect(
            Self.read("log: { level: debug, requests: true }").value?.log
                == LogSettings(level: .debug, hasRequests: true))
    }

    @Test(arguments: [
        ("operator: {}", "names nobody"), ("operator: { mail: a@b.example }", "need a server"),
        ("\(mail)operator: { mail: nobody }", "not a mail address"),
        ("operator: { webhook: https://h.example/1 }", "needs the name of a secret"),
        ("operator: { webhook: http://h.example/1, secret: ops }", "readable on the way"),
        ("operator: { webhook: ftp://h.example/1, secret: ops }", "is a URL such as"),
        ("operator: { mial: a@b.example }", "did you mean `mail`?"),
        ("audit: 1h", "audit"), ("log: { level: loud }", "level"),
    ])
    func testThatAWrongOneIsRefusedInWords(_ text: String, _ message: String) {
        let errors = Self.read(text).errors.map(\.description).joined(separator: "\n")
        expectContains(errors, message)
    }
}
