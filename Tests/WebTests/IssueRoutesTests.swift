import Foundation
import Model
import Storage
import TestSupport
import Testing

@testable import Web

@Suite struct IssueRoutesTests {
    private static let root = "/api/v1/bots/kit/integrations/2"
    private static let warning = String(repeating: "0", count: 64)

    private func silence(
        _ web: WebFixture, _ body: String, as role: Role? = .operator, issue: String = warning
    ) async throws -> RawAnswer {
        try await web.send(
            "POST", Self.root + "/issues/\(issue)/silence", as: role, headers: [("Content-Type", "application/json")],
            body: Array(body.utf8))
    }

    private func withSample(_ body: @escaping @Sendable (WebFixture) async throws -> Void) async throws {
        try await withWeb { web in
            try await SampleContent(web: web).fill()
            try await body(web)
        }
    }

    @Test(.proves(.issueHistory, "An issue is muted with reason, user and expiry, and no failure becomes green by it"))
    func testThatAnOperatorSilencesAndTakesBack() async throws {
        try await withSample { web in
            // when
            let answer = try await silence(web, #"{"reason":"the vendor's","until":"2026-12-31T00:00:00Z"}"#)
            // then
            #expect(answer.status == 200)
            let expected =
                #""silence":{"reason":"the vendor's","person":"operator","at":""#
            expectContains(answer.text, #""status":"silenced""#)
            expectContains(answer.text, expected)
            expectContains(answer.text, #""expires":"2026-12-31T00:00:00.000Z","expired":false"#)
            expectContains(try await web.json(Self.root + "/issues?status=silenced"), expected)
            expectContains(try await web.json("/api/v1/bots/kit/silences"), Self.warning)
            let page = try await web.send("GET", "/bots/kit/2/issues").text
            expectContains(page, "muted by operator until 2026-12-31")
            expectContains(page, "the vendor&#39;s")
            // when
            try await web.expect(200, "POST", Self.root + "/issues/000000/unsilence", as: .operator)
            // then
            expectContains(try await web.json("/api/v1/bots/kit/silences"), #""items":[]"#)
            try await web.expect(404, "POST", Self.root + "/issues/000000/unsilence", as: .operator)
        }
    }

    @Test(
        .proves(
            .issueHistory,
            "A large integration's issues come in parts, its SARIF log has at most 25,000 results and says so"))
    func testThatTheyComeInParts() async throws {
        try await withSample { web in
            func fingerprints(_ query: String) async throws -> [Substring] {
                try await web.json(Self.root + "/issues?" + query).matches(of: /"fingerprint":"(\w+)"/).map(\.1)
            }
            // given
            let all = try await fingerprints("")
            try #require(all.count > 1)
            // when
            let first = try await web.json(Self.root + "/issues?limit=1")
            let next = try #require(first.firstMatch(of: /"next":"(\d+)"/)?.1)
            // then
            #expect(try await fingerprints("limit=1") == Array(all.prefix(1)))
            #expect(try await fingerprints("after=\(next)") == Array(all.dropFirst()))
            expectContains(try await web.json(Self.root + "/issues?after=\(next)"), #""next":null"#)
            try await web.expect(400, "GET", Self.root + "/issues?status=odd")
            try await web.expect(404, "GET", "/api/v1/bots/odd/silences")
        }
    }

    @Test(arguments: ["status", "category", "limit", "after"])
    func testThatAParameterWithoutItsValueIsRefused(name: String) async throws {
        try await withSample { web in
            // given: a script whose variable is empty
            let answer = try await web.send("GET", Self.root + "/issues?\(name)=&fresh")
            // then: it does not get all issues
            #expect(answer.status == 400)
            expectContains(answer.text, "`\(name)` has no value. Leave the parameter out, or give it one.")
            // and a text may be empty
            try await web.expect(200, "GET", "/api/v1/bots/kit/integrations/latest/issues?branch=")
        }
    }

    @Test(
        .proves(
            .issueHistory,
            "A bot's silences on a page of their own, in the interface and by `martlet muted`, with the issue where a branch still has it"
        ))
    func testThatABotsSilencesAreListed() async throws {
        try await withSample { web in
            // given: one in force, one that has expired, one of an issue that no branch has
            _ = try await silence(web, #"{"reason":"<the vendor's>","until":"2026-12-31T00:00:00Z"}"#)
            let id = IntegrationID(bot: SampleContent.kit, number: 1)
            let failing = String(repeating: "f", count: 64)
            try await web.store.silence(
                failing, of: id,
                Silence(
                    reason: "the display", person: "ada", at: WebFixture.now + .seconds(-90),
                    expires: WebFixture.now + .seconds(-1)))
            // when
            let json = try await web.json("/api/v1/bots/kit/silences")
            let page = try await web.send("GET", "/bots/kit/silences").text
            let bot = try await web.send("GET", "/bots/kit").text
            // then
            expectContains(
                json, #""fingerprint":"\#(Self.warning)","reason":"\u003cthe vendor's\u003e","person":"operator""#)
            expectContains(
                json, #""expired":false,"issue":{"integration":"kit#2","ref":"refs/heads/main","resolved":false,"#)
            expectContains(
                json,
                #""person":"ada","at":"2026-03-01T11:58:30.000Z","expires":"2026-03-01T11:59:59.000Z","expired":true,"issue":null"#
            )
            expectContains(bot, #"<a href="/bots/kit/silences">muted issues</a>"#)
            expectContains(page, "of kit, 1 in force")
            expectContains(page, "<td class=\"wide\">&lt;the vendor&#39;s&gt;</td><td>operator")
            expectContains(page, #"<a href="/bots/kit/2#issues">#2</a>"#)
            expectContains(page, #"<td class="quiet">expired</td>"#)
            #expect(
                try #require(page.range(of: "operator<")).lowerBound < (try #require(page.range(of: "ada<"))).lowerBound
            )
            try await web.expect(404, "GET", "/bots/other/silences")
            try await web.expect(400, "GET", "/bots/kit/silences?after=-1")
            expectContains(try await web.send("GET", "/bots/kit/silences?after=2").text, "Nothing is muted")
            // and on the command line
            let listed = try await martlet(["muted", "kit"], web)
            expectContains(
                listed.stdout, ", in kit#2\n    muted by operator until 2026-12-31T00:00:00.000Z: <the vendor's>\n")
            expectContains(listed.stdout, "ffffffffffff  no branch has it\n    was muted by ada until ")
        }
    }

    @Test(.proves(.issueHistory, "An issue is muted with reason, user and expiry, and no failure becomes green by it"))
    func testThatOnlyAnOperatorMay() async throws {
        try await withSample { web in
            #expect(try await silence(web, #"{"reason":"r"}"#, as: nil).status == 401)
            #expect(try await silence(web, #"{"reason":"r"}"#, as: .viewer).status == 403)
            expectContains(try await web.json("/api/v1/bots/kit/silences"), #""items":[]"#)
        }
    }

    @Test(arguments: [
        (#"{}"#, 400), (#"{"reason":""}"#, 400), (#"{"reason":"r","until":"tomorrow"}"#, 400),
        (#"{"reason":"r","for":-1}"#, 400), (#"{"reason":"r","for":1e300}"#, 400),
        (#"{"reason":"r","for":60,"until":"2026-12-31T00:00:00Z"}"#, 400),
        (#"{"reason":"r","until":"2020-12-31T00:00:00Z"}"#, 409), (#"{"reason":"r","for":60}"#, 200),
        (#"{"reason":"r","until":"2099-12-31T00:00:00Z"}"#, 409),
        // The name of a token counts.
        (#"{"reason":"r","person":"somebody else"}"#, 200),
    ])
    func testThatTheBodyIsChecked(body: String, status: Int) async throws {
        try await withSample { web in
            let answer = try await silence(web, body)
            #expect(answer.status == status, "\(answer.text)")
            if status == 200 { expectContains(answer.text, #""person":"operator""#) }
        }
    }

    @Test(.proves(.issueHistory, "SARIF with `baselineState` and JUnit for others"))
    func testThatIssuesAreSARIF() async throws {
        try await withSample { web in
            // given
            _ = try await silence(web, #"{"reason":"the vendor's"}"#)
            // when
            let answer = try await web.send("GET", Self.root + "/issues.sarif")
            // then
            #expect(answer["Content-Type"] == "application/sarif+json")
            let log = try #require(try JSONSerialization.jsonObject(with: Data(answer.text.utf8)) as? [String: Any])
            let run = try #require((log["runs"] as? [[String: Any]])?.first)
            let results = try #require(run["results"] as? [[String: Any]])
            #expect(results.map { $0["baselineState"] as? String } == ["unchanged", "absent"])
            let suppression = try #require((results[0]["suppressions"] as? [[String: Any]])?.first)
            #expect(suppression["justification"] as? String == "the vendor's")
            #expect((run["automationDetails"] as? [String: String])?["id"] == "kit/main/2")
            let first = try await web.send("GET", "/api/v1/bots/kit/integrations/1/issues.sarif").text
            expectContains(first, #""introducedBy":{"author":"Ada <Author>""#)
        }
    }

    @Test(.proves(.issueHistory, "SARIF with `baselineState` and JUnit for others"))
    func testThatTestsAreJUnit() async throws {
        try await withSample { web in
            let answer = try await web.send("GET", "/api/v1/bots/kit/integrations/1/tests.xml")
            #expect(answer["Content-Type"] == "application/xml; charset=utf-8")
            expectContains(answer.text, "<testsuites tests=\"24\" failures=\"2\"")
            expectContains(answer.text, "<property name=\"configuration\" value=\"release\"/>")
        }
    }

    @Test(
        .proves(
            .issueHistory,
            "An issue's suspect has a confidence, is shown on page, command line and API, and is carried on"),
        .proves(.issueHistory, "An author's hostile text is cut and escaped"))
    func testThatThePageSaysWhoIntroducedIt() async throws {
        try await withSample { web in
            let page = try await web.send("GET", "/bots/kit/1").text
            expectContains(page, "by Ada &lt;Author&gt; in <code>111111111111</code>")
            expectContains(page, "its line comes from this commit (blameLineAgainstCommits)")
            expectContains(page, "<code title=\"Fingerprint\">ffffffffffff</code>")
        }
    }
}
