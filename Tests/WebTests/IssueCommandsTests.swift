import Foundation
import TestSupport
import Testing

/// The output and the effects of the command line for issues.
@Suite struct IssueCommandsTests {
    @Test(
        .proves(.issueHistory, "An issue is muted with reason, user and expiry, and no failure becomes green by it"),
        .proves(
            .issueHistory,
            "An issue's suspect has a confidence, is shown on page, command line and API, and is carried on"))
    func testThatAnIssueIsSilencedAndToldSo() async throws {
        try await withWeb { web in
            // given
            try await SampleContent(web: web).fill()
            let list = try await martlet(["issues", "kit#1", "--status", "new"], web)
            expectContains(
                list.stdout,
                "\n    ffffffffffff; by Ada <Author> in 111111111111 (blameLineAgainstCommits)\n")
            // when
            let silenced = try await martlet(
                ["mute", "kit#2", "000000", "--reason", "the vendor's", "--for", "2d"], web)
            let listed = try await martlet(["issues", "kit#2", "--status", "muted"], web)
            // then
            #expect(silenced.status == 0, "\(silenced.stderr)")
            #expect(silenced.stdout == listed.stdout)
            expectContains(
                listed.stdout,
                "\n    000000000000; 2 integrations; muted by \(NSUserName()) until 2026-03-03T12:00:00.000Z: the vendor's\n"
            )
            // when
            #expect(try await martlet(["unmute", "kit#2", "000000"], web).status == 0)
            #expect(try await martlet(["issues", "kit#2", "--status", "muted"], web).stdout.isEmpty)
            // then: impossible requests are refused with a message
            for (arguments, status) in [
                (["mute", "kit#2", "00", "--reason", "r"], Int32(1)),
                (["mute", "kit#2", "abcdef", "--reason", "r"], 66), (["mute", "kit#2", "000000"], 64),
                (["mute", "kit#2", "000000", "--reason", "r", "--for", "soon"], 64),
                (["mute", "kit#2", "000000", "--reason", "r", "--until", "never"], 1),
            ] {
                #expect(try await martlet(arguments, web).status == status, "\(arguments)")
            }
        }
    }

    @Test(.proves(.issueHistory, "The old names of the commands work: `silence`, `unsilence`, `silences`"))
    func testThatTheOldNamesOfTheCommandsWork() async throws {
        try await withWeb { web in
            // given
            try await SampleContent(web: web).fill()
            // when
            let muted = try await martlet(["silence", "kit#2", "000000", "--reason", "known"], web)
            let listed = try await martlet(["silences", "kit", "--json"], web)
            let issues = try await martlet(["issues", "kit#2", "--status", "silenced"], web)
            let unmuted = try await martlet(["unsilence", "kit#2", "000000"], web)
            // then
            #expect(muted.status == 0, "\(muted.stderr)")
            #expect(issues.stdout == muted.stdout)
            expectContains(listed.stdout, #""reason":"known""#)
            #expect(unmuted.status == 0, "\(unmuted.stderr)")
            let rest = try await martlet(["muted", "kit", "--json"], web)
            expectContains(rest.stdout, #""items":[]"#)
        }
    }

    @Test(.proves(.issueHistory, "SARIF with `baselineState` and JUnit for others"))
    func testThatOtherToolsAreServed() async throws {
        try await withWeb { web in
            try await SampleContent(web: web).fill()
            let sarif = try await martlet(["issues", "kit#1", "--sarif"], web)
            let junit = try await martlet(["tests", "kit#1", "--junit"], web)
            #expect(sarif.stdout == (try await web.json("/api/v1/bots/kit/integrations/1/issues.sarif")))
            #expect(junit.stdout == (try await web.json("/api/v1/bots/kit/integrations/1/tests.xml")))
        }
    }
}
