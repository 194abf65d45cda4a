import BotSupport
import Model
import Storage
import TestSupport
import Testing

@testable import Integrations
@testable import Notifications

@Suite struct NoticeTextTests {
    @Test(
        .proves(
            .notices,
            "The first lines say what, which commit, the counts, who and how sure that is, and where to read more"))
    func testThatTheFirstLinesSayWhatAndWhoAndWhere() throws {
        // given
        let facts = try NoticeSample.facts(
            .broke, verdict: .buildErrors,
            issues: [
                NoticeSample.issue(.error, "no such name 'x'", path: "Sources/a.c", line: 12, by: "Ann"),
                NoticeSample.issue(.testFailure, "1 is not 2", rule: "Kit/adds", by: "Bob", confidence: .low),
                NoticeSample.issue(.warning, "unused", by: "Eve"),
                NoticeSample.issue(.error, "old", status: .unresolved, by: "Eve"),
            ])
        // then
        #expect(NoticeText.subject(of: facts) == "[kit] broke: main at 0000000 by Ann: 2 new issues")
        expectNoDifference(
            NoticeText.body(of: facts),
            """
            main at 0000000 by Ann broke kit#41
              Read the new form
            Result: build-errors: 1 error, 0 analyzer warnings, 0 warnings, 2 of 120 tests failed
            Introduced by Ann in 0000000 (sure), Bob in 0000000 (likely)
            https://ci.acme.example/bots/kit/41

            New issues (1):
              Sources/a.c:12: no such name 'x'

            Tests that fail now (1):
              Kit/adds: 1 is not 2

            --\u{20}
            Martlet sends this as `team` under `notify` of kit.yml says.

            """)
    }

    @Test(
        .proves(
            .notices,
            "The first lines say what, which commit, the counts, who and how sure that is, and where to read more"))
    func testThatWhatIsFixedSaysSinceWhen() throws {
        var facts = try NoticeSample.facts(
            .fixed, verdict: .succeeded,
            issues: [NoticeSample.issue(.error, "no such name 'x'", path: "Sources/a.c", line: 12, status: .resolved)])
        facts.brokenBy = .init(number: 39, run: 1)
        #expect(NoticeText.subject(of: facts) == "[kit] fixed: main at 0000000 by Ann: 1 issue resolved")
        let body = NoticeText.body(of: facts)
        #expect(body.hasPrefix("main at 0000000 by Ann fixed kit#41, broken since #39\n"))
        expectContains(body, "\n\nResolved (1):\n  Sources/a.c:12: no such name 'x'\n")
    }

    @Test func testThatANewIssueAndAReleaseAreToldAsWhatTheyAre() throws {
        let issue = try NoticeSample.issue(.analyzerWarning, "leaks", path: "a.c", line: 3)
        let found = try NoticeSample.facts(.newIssue, verdict: .analyzerWarnings, issues: [issue])
        #expect(NoticeText.subject(of: found) == "[kit] new issue: main at 0000000 by Ann: 1 new issue")
        var released = try NoticeSample.facts(.released, verdict: .succeeded, issues: [issue])
        released.version = VersionRecord(
            product: try Samples.name("kit"), version: try #require(SemanticVersion("1.4.2")), state: .published,
            isYanked: false, commit: try Samples.commit(41), ref: RefName(branch: "release/1.4"),
            integration: released.integration.id, files: [], publishedAt: nil)
        #expect(NoticeText.subject(of: released) == "[kit] released kit 1.4.2 from main at 0000000")
        let body = NoticeText.body(of: released)
        expectContains(body, "https://ci.acme.example/products/kit/1.4.2\n")
        #expect(!body.contains("leaks"))
    }

    @Test(.proves(.notices, "A failed archive gives its reason in every notice"))
    func testThatAResultThatNoErrorExplainsHasItsReason() throws {
        // given
        var facts = try NoticeSample.facts(.broke, verdict: .buildErrors)
        facts.integration.reason = "archive: the pattern *.so\nmatches nothing"
        // when, then: errors and failing tests are explained by the issues
        #expect(!NoticeText.body(of: facts).contains("Reason:"))
        facts.integration.summary?.counts.errors = 0
        facts.integration.summary?.counts.testFailures = 0
        expectContains(NoticeText.body(of: facts), "\nReason: archive: the pattern *.so matches nothing\n")
        facts.integration.summary = nil
        facts.integration.reason = String(repeating: "x", count: 10_000)
        expectContains(NoticeText.body(of: facts), "\nReason: " + String(repeating: "x", count: 400))
        #expect(NoticeText.body(of: facts).utf8.count < 2000)
        facts.integration.state = .completed(.succeeded, triggerFailed: false)
        #expect(!NoticeText.body(of: facts).contains("Reason:"))
    }

    @Test func testThatAtMostTenOfEachAreWrittenOut() throws {
        let issues = try (0..<12).map { try NoticeSample.issue(.testFailure, "fails", rule: "Kit/t\($0)") }
        let lines = NoticeText.body(of: try NoticeSample.facts(.broke, verdict: .testFailures, issues: issues))
            .split(separator: "\n")
        #expect(lines.count { $0.hasPrefix("  Kit/t") } == 10)
        #expect(lines.contains("  and 2 more"))
    }

    @Test(
        .proves(
            .notices, "Counts are of all issues, whatever is read and shown; mails say how many authors are not told"))
    func testThatItSaysHowManyThereAreAndWhoIsNotTold() throws {
        var facts = try NoticeSample.facts(
            .broke, verdict: .buildErrors, issues: [NoticeSample.issue(.error, "no such name 'x'")])
        facts.counts = .init(newTests: 3, newOthers: 1205)
        facts.leftOut = 11
        #expect(NoticeText.subject(of: facts).hasSuffix(": 1,208 new issues"))
        let body = NoticeText.body(of: facts)
        expectContains(body, "\n\nNew issues (1205):\n  no such name 'x'\n  and 1204 more\n\n")
        expectContains(body, "\n\nTests that fail now (3):\n  and 3 more\n\n")
        expectContains(body, "\n\n11 authors of these are not told: a message has 20 recipients.\n\n-- \n")
    }

    /// Row X6: foreign text stays on its line, and within the line's limit.
    @Test(.proves(.notices, "Subject, names and text of others stay in their line, header and size (X6, T1)"))
    func testX6ThatNothingFromOutsideBreaksALine() throws {
        // given
        let evil = "a\r\nBcc: x@y.example\n\n-- \nhttps://evil.example\u{2028}\u{202E}b\u{0}\u{1B}[31m"
        var facts = try NoticeSample.facts(
            .broke, verdict: .buildErrors,
            issues: [
                NoticeSample.issue(.error, evil, path: evil, line: 1, by: evil),
                NoticeSample.issue(.testFailure, evil + String(repeating: "x", count: 100_000), rule: evil, by: evil),
            ])
        facts.integration.author = evil
        facts.integration.subject = evil + String(repeating: "\u{301}", count: 100_000)
        facts.integration.ref = RefName("refs/heads/a\u{2028}b")
        // then
        let subject = NoticeText.subject(of: facts)
        let body = NoticeText.body(of: facts)
        for text in [subject, body] {
            #expect(
                !text.unicodeScalars.contains {
                    $0 != "\n" && $0.properties.generalCategory == .control
                        || "\u{2028}\u{202E}\r".unicodeScalars.contains($0)
                })
        }
        #expect(!subject.contains("\n"))
        #expect(subject.count <= 200)
        let lines = body.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 15, "\(lines.count)")
        #expect(!lines.contains { $0.hasPrefix("Bcc") || $0.hasPrefix("https://evil") })
        #expect(body.utf8.count < 8000)
    }
}
