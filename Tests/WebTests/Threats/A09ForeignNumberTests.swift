import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// Another bot's objects do not exist under one's own name: the answer is the same as for missing ones.
@Suite struct A09ForeignNumberTests {
    private static let other = Name(nearest: "other")

    private static let paths = [
        "", "/issues", "/issues.sarif", "/tests", "/tests/grid", "/tests.xml", "/coverage", "/coverage/debug",
        "/triggers",
        "/artifacts", "/artifacts/release/kit-1.0.0-source.tar.gz", "/log/debug", "/log/debug/events",
    ]

    private static func answer(_ web: WebFixture, _ method: String, _ path: String, number: Int) async throws
        -> [String]
    {
        let answer = try await web.send(method, path.replacing("NUMBER", with: "\(number)"), as: .operator)
        let text = answer.text.replacing("other#\(number)", with: "other#N").replacing("/\(number)", with: "/N")
        return ["\(answer.status)", text] + answer.lines(without: "date", "content-length")
    }

    /// Runs a test in which `kit` has three integrations, and `other` has one.
    private static func withTwo(_ body: @Sendable (WebFixture) async throws -> Void) async throws {
        try await withWeb { web in
            try await SampleContent(web: web).fill()
            try await web.store.register(
                [SampleContent.kit, other].map { BotSpecification(name: $0, repository: SampleContent.repository) },
                at: WebFixture.now)
            _ = try await web.store.queue(
                NewIntegration(
                    bot: other, ref: RefName(branch: "main"), commit: SampleContent.commits[0], cause: .push),
                at: WebFixture.now)
            try await body(web)
        }
    }

    @Test func testA9ThatAnothersNumberIsAnsweredAsOneThatDoesNotExist() async throws {
        try await Self.withTwo { web in
            for part in Self.paths {
                for root in ["/api/v1/bots/other/integrations/NUMBER", "/bots/other/NUMBER"] {
                    // 3 is kit's; 4711 does not exist.
                    let foreign = try await Self.answer(web, "GET", root + part, number: 3)
                    let absent = try await Self.answer(web, "GET", root + part, number: 4711)
                    expectNoDifference(foreign, absent)
                    #expect(foreign.first == "404", "\(root)\(part)")
                }
            }
            try await web.expect(200, "GET", "/api/v1/bots/kit/integrations/3", as: .operator)
        }
    }

    @Test func testA9ThatAnothersNumberCannotBeChanged() async throws {
        try await Self.withTwo { web in
            for part in ["/cancel", "/rerun", "/issues/ffffff/silence", "/issues/ffffff/unsilence"] {
                let path = "/api/v1/bots/other/integrations/NUMBER" + part
                let foreign = try await Self.answer(web, "POST", path, number: 3)
                expectNoDifference(foreign, try await Self.answer(web, "POST", path, number: 4711))
            }
        }
    }

    /// An artifact, a log or an issue of another integration of the same bot.
    @Test func testA9ThatAnotherIntegrationsFilesAreNotThere() async throws {
        try await Self.withTwo { web in
            let fingerprint = String(repeating: "f", count: 64)
            let root = "/api/v1/bots/kit/integrations"
            try await web.expect(200, "GET", "\(root)/3/artifacts/release/kit-1.0.0-source.tar.gz")
            for path in [
                "\(root)/3/artifacts/debug/kit-1.0.0-source.tar.gz",
                "\(root)/3/artifacts/release/..%2f..%2f1%2fdebug%2f1%2flog",
                "\(root)/3/log/nobody", "\(root)/3/log/debug?attempt=2", "\(root)/3/coverage/nobody",
                "/files/kit/1.0.1/kit-source.tar.gz", "/files/other/1.0.0/kit-source.tar.gz", "/products/other/1.0.0",
            ] {
                try await web.expect(404, "GET", path)
            }
            let answer = try await web.send(
                "POST", "\(root)/3/issues/\(fingerprint)/silence", as: .operator,
                headers: [("Content-Type", "application/json")], body: Array(#"{"reason":"r"}"#.utf8))
            #expect(answer.status == 404, "the issue is 1's alone: \(answer.text)")
        }
    }
}
