import Model
import Settings
import TestSupport
import Testing

@Suite struct NoticeReaderTests {
    private func read(_ notify: String, head: String = "repository: /r\n") -> Reading<BotSpecification> {
        BotFileReader.read(yaml: head + "notify:\n" + notify, file: "kit.yml", name: Name(nearest: "kit"))
    }

    @Test(
        .proves(.notices, "A bot file's `notify` has `when`, `branches` and `tags`; errors have their place"),
        arguments: [
            Marked("  - §mail: a@b\n", "has no `name`"),
            Marked("  - §name: a\n", "it needs `mail`, `authors` or `webhook`"),
            Marked("  - name: a\n    mail: a@b\n    §webhook: https://h/\n", "make one item of each"),
            Marked(
                "  - name: a\n    mail: a@b\n  - §name: a\n    mail: a@b\n", "named `a` is there already, in line 3"),
            Marked("  - name: a\n    mail: a@b\n    when: §broken\n", "did you mean `broke`?"),
            Marked("  - name: a\n    mail: a@b\n    when: §[]\n", "nobody would ever be told"),
            Marked("  - name: a\n    mail: a@b\n    §on: broke\n", "has no key `on`"),
            Marked("  - name: a\n    mail: [a@b, §nobody]\n", "is not a mail address"),
            Marked("  - name: a\n    mail: §\"a@b\\r\\nBcc: c@d\"\n", "has a line break or control character"),
            Marked("  - §name: a\n    mail: []\n", "have no address"),
            Marked("  - name: a\n    authors: §\"*\"\n", "anybody can write any address into a commit"),
            Marked("  - name: a\n    authors: §example\n", "anybody can write any address into a commit"),
            Marked("  - name: a\n    mail: a@b\n    §secret: s\n", "`secret` belongs to `webhook`"),
            Marked("  - §name: a\n    webhook: https://h/\n", "needs the name of a secret"),
            Marked("  - name: a\n    secret: s\n    webhook: §http://h/\n", "add `insecure: true`"),
            Marked("  - name: a\n    secret: s\n    webhook: §ftp://h/\n", "is an address such as https://"),
            Marked("  - name: a\n    secret: s\n    webhook: §https://u:hunter2@h/\n", "has a password in it"),
            Marked("  - name: a\n    secret: s\n    webhook: §https://hunter2@h/\n", "has a user before its host"),
            Marked("  - name: a\n    secret: s\n    webhook: §https://hunter2@h\n", "has a user before its host"),
            Marked("  - name: a\n    secret: §whsec_a/b=\n    webhook: https://h/\n", "not its value"),
        ])
    func testThatItSaysWhereAndWhatIsWrong(_ sample: Marked) {
        // when
        let reading = read(sample.text)
        // then
        sample.expectFirst(of: reading.diagnostics, below: 2)
        #expect(reading.value == nil)
        #expect(!reading.diagnostics.contains { $0.message.contains("hunter2") })
    }

    @Test(.proves(.notices, "A bot file's `notify` has `when`, `branches` and `tags`; errors have their place"))
    func testThatItReadsEveryKey() throws {
        // when
        let reading = read(
            """
              - name: team
                when: [released, broke]
                branches: [main, "release/*"]
                tags: ["v*"]
                mail: [ann@acme.example, "The team <team@acme.example>"]
                authors: Acme.Example
              - { name: chat, webhook: "https://chat.acme.example/hook?a=b", secret: chat-hook }

            """, head: "repository: /r\ntags: [\"v*\"]\n")
        // then
        #expect(reading.diagnostics.isEmpty)
        let team = try #require(MailAddress(name: "The team", address: "team@acme.example"))
        let ann = try #require(MailAddress("ann@acme.example"))
        expectNoDifference(
            reading.value?.notices,
            [
                Notice(
                    name: Name(nearest: "team"), branches: [RefPattern("main"), RefPattern("release/*")],
                    tags: [RefPattern("v*")], when: [.broke, .released],
                    target: .mail(to: [ann, team], authorsIn: ["acme.example"])),
                Notice(
                    name: Name(nearest: "chat"),
                    target: .webhook(url: "https://chat.acme.example/hook?a=b", secret: "chat-hook")),
            ])
    }

    @Test(arguments: [(20, true), (21, false)])
    func testThatItsListsHaveLimits(_ count: Int, isTaken: Bool) {
        let addresses = (0..<count).map { "a\($0)@acme.example" }.joined(separator: ", ")
        #expect(read("  - { name: a, mail: [\(addresses)] }\n").errors.isEmpty == isTaken)
        let items = (0..<count - 4).map { "  - { name: a\($0), mail: a@acme.example }\n" }.joined()
        #expect(read(items).errors.isEmpty == isTaken)
    }

    @Test func testThatTagsThatTheBotDoesNotWatchAreAWarning() {
        let reading = read("  - { name: a, mail: a@b, tags: [\"v*\"] }\n")
        #expect(reading.value != nil)
        #expect(reading.diagnostics.map(\.severity) == [.warning])
    }

    @Test func testThatPlainHTTPNeedsThatTheFileSaysSo() {
        let notify = "  - { name: a, webhook: \"http://127.0.0.1:8080/hook\", secret: s }\n"
        #expect(read(notify).value == nil)
        #expect(read(notify, head: "repository: /r\ninsecure: true\n").value != nil)
    }
}
