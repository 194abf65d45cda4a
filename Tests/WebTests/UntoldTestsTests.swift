import Foundation
import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// Tests that ran without a report.
@Suite(.proves(.web, "Tests that ran and of which no report tells are called so, not \"0 tests\""))
struct UntoldTestsTests {
    private func withUntold(_ body: @Sendable (WebFixture) async throws -> Void) async throws {
        try await withWeb { web in
            var sample = SampleContent(web: web)
            sample.hasReports = false
            try await sample.fill()
            try await body(web)
        }
    }

    @Test func testThatPagesSayThatTheExitStatusAloneCounts() async throws {
        try await withUntold { web in
            // when
            let page = try await web.send("GET", "/bots/kit/3").text
            let list = try await web.send("GET", "/bots/kit").text
            let all = try await web.send("GET", "/").text

            // then
            expectContains(page, "Judged by exit status alone: no report tells of single tests.")
            expectContains(page, "<b>–</b> <span>tests</span>")
            #expect(
                page.components(separatedBy: "by exit status alone: the command").count == 3, "once a configuration")
            for text in [page, list, all] {
                #expect(text.matches(of: /.{0,40}0 tests.{0,20}/).map { String($0.0) } == [])
                #expect(!text.contains("No test ran"))
            }
            expectContains(list, "<td>–</td>")
        }
    }

    @Test(arguments: [
        (["tests", "kit#3"], "kit#3 has no report that lists its tests.\n"),
        (["tests", "kit"], "kit has no report that lists its tests.\n"),
        (["tests", "kit#3", "--failing"], "No test of kit#3 fails.\n"),
        (["flaky", "kit"], "No integration of kit has a report that lists its tests.\n"),
    ])
    func testThatTheToolSaysSo(_ arguments: [String], _ sentence: String) async throws {
        try await withUntold { web in
            let result = try await run(
                [try TestTools.builtProduct("martlet")] + arguments + ["--server", web.socket],
                environment: ["PATH": "/usr/bin:/bin", "HOME": web.directory.path])
            #expect(result.status == 0, "\(result.stderr)")
            #expect(result.stdout == sentence)
        }
    }
}
