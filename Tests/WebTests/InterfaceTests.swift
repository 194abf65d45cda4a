import Basics
import Encodings
import Integrations
import Model
import Storage
import TestSupport
import Testing
import Transfer

@testable import Web

/// The JSON API: shapes and refusals.
@Suite struct InterfaceTests {
    private func withSample(_ body: @Sendable (WebFixture) async throws -> Void) async throws {
        try await withWeb { web in
            try await SampleContent(web: web).fill()
            try await body(web)
        }
    }

    @Test(
        .proves(.reports, "Counts with ± in the API"),
        .proves(.web, "Routes and JSON: bots, integrations, issues, tests, artifacts, log, versions, deliveries"))
    func testThatAnIntegrationHasItsShape() async throws {
        try await withSample { web in
            let json = try await web.json("/api/v1/bots/kit/integrations/2")
            let expected =
                #"{"id":"kit#2","url":"http://ci.example/bots/kit/2","bot":"kit","number":2,"#
                + #""commit":"2222222222222222222222222222222222222222","ref":"refs/heads/main","#
                + #""base":null,"head":null,"pullRequest":null,"cause":"push","requestedBy":null,"#
                + #""subject":"Skip empty lines instead of trapping on them","author":"Ada Okafor","project":null,"state":"completed","#
                + #""step":"completed","verdict":"warnings","result":"warnings","skipped":false,"reason":null,"#
                + #""queued":"2026-03-01T11:10:00.000Z","started":"2026-03-01T11:10:01.000Z","#
                + #""ended":"2026-03-01T11:10:41.000Z","duration":40,"run":1,"supersededBy":null,"summary":{"errors":0,"warnings":1,"analyzerWarnings":0,"#
                + #""testFailures":0,"tests":12,"flakyTests":0,"errorsChange":0,"warningsChange":-1,"analyzerWarningsChange":0,"#
                + #""testFailuresChange":-1,"testsChange":0,"flakyTestsChange":0,"tally":null},"reruns":[],"configurations":["#
                + #"{"name":"debug","attempt":1,"run":1,"testFilter":null,"#
                + #""state":"processed","step":null,"verdict":"succeeded","reason":null,"analysis":"1 finding","#
                + #""tested":"12 tests","isolation":"none","isolationReason":"bwrap is not installed","#
                + #""notes":[],"#
            #expect(json.hasPrefix(expected), "\(json)")
            expectContains(
                json,
                #"{"step":"building","name":"swift build --build-tests","started":"2026-03-01T11:10:03.200Z","#
                    + #""ended":"2026-03-01T11:10:14.600Z","duration":11.4,"exit":0,"signal":null,"limit":null}"#)
        }
    }

    @Test(
        .proves(
            .steps,
            "Products are archived only if a later trigger or the recipe uses them; page, API, `martlet artifacts`, `--plan` and logs say why they are not"
        ))
    func testThatAnIntegrationSaysWhyNothingWasArchived() async throws {
        try await withWeb { web in
            // given
            let bot = BotSpecification(name: SampleContent.kit, repository: SampleContent.repository)
            try await web.store.register([bot], at: WebFixture.now)
            let queued = try await web.store.queue(
                NewIntegration(
                    bot: bot.name, ref: RefName(branch: "main"), commit: SampleContent.commits[0], cause: .push),
                at: WebFixture.now)
            let id = queued.id
            _ = try await web.store.takeUp(id, as: bot, at: WebFixture.now)
            _ = try await web.store.recordPreparation(
                of: id,
                Store.Preparation(
                    recipe: Recipe(configurations: [Recipe.Configuration(name: SampleContent.debug)]),
                    commit: CommitSummary(
                        subject: "Add a parser", author: "Ada Okafor", committedAt: WebFixture.now,
                        tree: String(repeating: "e", count: 40))),
                at: WebFixture.now)
            _ = try await web.store.apply(.entered(.running), to: id, at: WebFixture.now)
            try await web.store.completeIssues(of: id, issues: [], summary: Summary(), at: WebFixture.now)
            _ = try await web.store.apply(.completed(.succeeded, triggerFailed: false), to: id, at: WebFixture.now)

            // when
            let page = try await web.send("GET", "/bots/kit/1").text
            let json = try await web.json("/api/v1/bots/kit/integrations/1/artifacts")
            let shown = try await martlet(["artifacts", "kit#1"], web)

            // then
            let reason =
                "not archived: nothing uses the products; `archive: {}` in the recipe keeps them, and so does a trigger that acts on main"
            expectContains(page, "Not archived: nothing uses the products;")
            #expect(json == #"{"items":[],"next":null,"notArchived":"\#(reason)"}"# + "\n")
            #expect(shown.stdout == reason + "\n", "\(shown.stderr)")
        }
    }

    @Test func testThatABotSaysWhenItsRepositoryWasRead() async throws {
        try await withSample { web in
            // given
            expectContains(
                try await web.json("/api/v1/bots/kit"), #""lookedAt":null,"lookError":null,"empty":false,"pause":null}"#
            )
            let request = try #require(try await web.store.repositoriesToScan().first)
            // when
            _ = try await web.store.apply(
                RefScan(
                    request: request, heads: [:], defaultBranch: nil, at: WebFixture.now, cause: .poll, watchers: []))
            // then
            expectContains(
                try await web.json("/api/v1/bots/kit"),
                #""lookedAt":"\#(WebFixture.now)","lookError":null,"empty":true,"pause":null}"#)
        }
    }

    @Test func testThatLatestIsANumberToo() async throws {
        try await withSample { web in
            let json = try await web.json("/api/v1/bots/kit/integrations/latest")
            expectContains(json, "\"number\":3,")
        }
    }

    @Test func testThatAnotherNumberIsNotThere() async throws {
        try await withSample { web in
            for number in ["0", "-1", "+1", "01", "1e0", "99999999999999999999", "a"] {
                let answer = try await web.send("GET", "/api/v1/bots/kit/integrations/\(number)")
                #expect(answer.status == 404)
                #expect(
                    answer.text
                        == #"{"type":"about:blank","title":"Not Found","status":404,"detail":"There is nothing here."}"#
                        + "\n")
            }
        }
    }

    @Test(
        .proves(.web, "Routes and JSON: bots, integrations, issues, tests, artifacts, log, versions, deliveries"),
        .proves(.issueHistory, "An issue has its age and its first integration"))
    func testThatIssuesHaveTheirShape() async throws {
        try await withSample { web in
            let json = try await web.json("/api/v1/bots/kit/integrations/1/issues?category=test-failure")
            #expect(
                json
                    == #"{"items":[{"fingerprint":"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff","#
                    + #""category":"test-failure","status":"new","age":1,"since":1,"rule":"KitTests.ParserTests/parsesAnEmptyLine()","#
                    + #""message":"Expectation failed: (lines.count → 3) == 2","path":"Tests/KitTests/ParserTests.swift","#
                    + #""line":41,"column":null,"configurations":["debug"],"introducedBy":{"#
                    + #""commit":"1111111111111111111111111111111111111111","author":"Ada \u003cAuthor\u003e","email":"ada@acme.example","#
                    + #""strategy":"blameLineAgainstCommits","confidence":"high"},"silence":null}],"next":null}"#
                    + "\n")
            let resolved = try await web.json("/api/v1/bots/kit/integrations/2/issues?status=resolved")
            expectContains(resolved, "remove the trailing space")
        }
    }

    @Test func testThatFailingTestsAreFiltered() async throws {
        try await withSample { web in
            let failing = try await web.json("/api/v1/bots/kit/integrations/1/tests?failing&configuration=debug")
            #expect(
                failing
                    == #"{"items":[{"suite":"KitTests.ParserTests","name":"parsesAnEmptyLine()","configuration":"debug","#
                    + #""outcome":"failed","duration":0.012,"message":"Expectation failed: (lines.count → 3) == 2","#
                    + #""path":"Tests/KitTests/ParserTests.swift","line":41}],"next":null}"# + "\n")
            let all = try await web.json("/api/v1/bots/kit/integrations/1/tests?failing=false")
            #expect(all.split(separator: "\"outcome\"").count - 1 == 24)
        }
    }

    @Test(.proves(.web, "Routes and JSON: bots, integrations, issues, tests, artifacts, log, versions, deliveries"))
    func testThatListingsHavePages() async throws {
        try await withSample { web in
            let first = try await web.json("/api/v1/integrations?limit=2")
            #expect(
                first.contains("\"number\":3,") && first.contains("\"number\":2,") && !first.contains("\"number\":1,"))
            let next = try #require(first.split(separator: "\"next\":\"").last?.prefix { $0 != "\"" })
            let second = try await web.json("/api/v1/integrations?limit=2&before=\(next)")
            #expect(second.contains("\"number\":1,") && second.contains("\"next\":null"))
            let main = try await web.json("/api/v1/bots/kit/integrations?ref=main&state=completed")
            #expect(!main.contains("\"number\":3,"))
        }
    }

    @Test func testThatABadFilterIsRefused() async throws {
        let targets = [
            "/api/v1/integrations?limit=x", "/api/v1/integrations?limit=0", "/api/v1/integrations?before=a",
            "/api/v1/integrations?state=%27%20OR%201%3D1", "/api/v1/integrations?commit=HEAD",
            "/api/v1/bots/kit/integrations/1/tests?configuration=%2e%2e",
        ]
        try await withSample { web in
            for target in targets { try await web.expect(400, "GET", target) }
        }
    }

    @Test func testThatAnyTextIsAFilterAndNothingMore() async throws {
        try await withSample { web in
            for text in ["'; DROP TABLE integrations; --", "%", "_", "\u{0}", "ﷺ", "../../etc"] {
                let answer = try await web.send("GET", "/api/v1/integrations?ref=\(PercentEncoding.encode(text))")
                #expect(answer.status == 200)
                #expect(answer.text == "{\"items\":[],\"next\":null}\n")
            }
        }
    }

    @Test(.proves(.web, "Routes and JSON: bots, integrations, issues, tests, artifacts, log, versions, deliveries"))
    func testThatVersionsHaveTheirShape() async throws {
        try await withSample { web in
            let json = try await web.json("/api/v1/products/kit/versions/latest")
            let digest = Digest.sha256(of: Array("source".utf8))
            #expect(
                json.hasPrefix(
                    #"{"version":"1.0.0","id":"kit 1.0.0","url":"http://ci.example/products/kit/1.0.0","#
                        + #""product":"kit","published":"2026-03-01T12:00:00.000Z","#
                        + #""commit":"3333333333333333333333333333333333333333","ref":"refs/heads/release/1.0","#
                        + #""integration":"kit#3","files":[{"configuration":null,"path":"kit-source.tar.gz","size":6,"#
                        + #""sha256":"\#(digest)","url":"http://ci.example/files/kit/1.0.0/kit-source.tar.gz","downloads":0}"#
                ),
                "\(json)")
            #expect(try await web.json("/api/v1/products").contains(#""latest":"1.0.0""#))
        }
    }

    @Test func testThatOtherMethodsAreNamed() async throws {
        try await withSample { web in
            let answer = try await web.send("PUT", "/api/v1/bots", as: .admin)
            #expect(answer.status == 405)
            #expect(answer["Allow"] == "GET, HEAD")
        }
    }

    @Test(.proves(.web, "There are live events, health, metrics and badges"))
    func testThatHealthMetricsAndBadgesAnswer() async throws {
        try await withSample { web in
            #expect(
                try await web.json("/health")
                    == "{\"status\":\"ok\",\"version\":\"1.2.3\",\"url\":\"http://ci.example\"}\n")
            let metrics = try await web.json("/metrics")
            expectContains(metrics, "martlet_bot_result{bot=\"kit\",result=\"succeeded\"} 1\n")
            expectContains(metrics, "martlet_versions{product=\"kit\"} 1\n")
            let badge = try await web.send("GET", "/badge/kit.svg?branch=main")
            #expect(badge["Content-Type"] == "image/svg+xml")
            expectContains(badge.text, "aria-label=\"kit: warnings\"")
            expectContains(try await web.json("/cctray.xml"), "lastBuildStatus=\"Success\"")
            let api = try await web.json("/openapi.json")
            expectContains(api, "\"/api/v1/bots/{bot}/integrations/{number}/cancel\":{\"post\":{")
        }
    }

    // MARK: Webhooks

    @Test(.proves(.badInput, "A wrong or missing signature is refused"))
    func testThatAPushWithoutASignatureIsRefused() async throws {
        try await withSample { web in
            for bot in ["kit", "nobody", "K%20it"] {
                let answer = try await web.send("POST", "/webhooks/push/\(bot)", body: Array("{}".utf8))
                #expect(answer.status == 401, "\(bot)")
            }
        }
    }

    @Test func testThatABodyIsReadUpToItsLimitOnly() async throws {
        try await withSample { web in
            let declared = [("Content-Length", "99999999999")]
            try await web.expect(413, "POST", "/webhooks/push/kit", headers: declared)
            let chunk = "100000\r\n" + String(repeating: "a", count: 0x100000) + "\r\n"
            let chunked = Array(String(repeating: chunk, count: 2).utf8) + Array("0\r\n\r\n".utf8)
            let answer = try await web.send(
                "POST", "/api/v1/tokens", as: .admin,
                headers: [("Transfer-Encoding", "chunked"), ("Content-Length", "")].filter { !$0.1.isEmpty }
                    + [("Content-Type", "application/json")], body: chunked)
            #expect(answer.status == 413 || answer.status == 400)
        }
    }

    @Test func testThatEndlessHeadersAreRefused() async throws {
        try await withSample { web in
            let many = (0..<200).map { ("X-\($0)", "a") }
            try await web.expect(431, "GET", "/health", headers: many)
            let large = [("X-Large", String(repeating: "a", count: 40_000))]
            try await web.expect(431, "GET", "/health", headers: large)
        }
    }

    // MARK: The unix socket

    @Test(.proves(.web, "The peer of the Unix socket is an admin"))
    func testThatTheSocketsPeerIsAnAdmin() async throws {
        try await withSample { web in
            let transport = try CurlTransport()
            var request = TransferRequest(.get, "http://localhost/api/v1/tokens")
            request.unixSocket = web.socket
            let answer = try await transport.perform(request)
            #expect(answer.status == 200)
            let mode = try web.directory.directory().status("martlet.socket")?.mode
            #expect(mode == 0o600)
            let names = try web.directory.directory().entries().map { String(decoding: $0.bytes, as: UTF8.self) }
            #expect(names.sorted() == ["bots", "martlet.socket", "state"])
        }
    }

    // MARK: Events

    @Test(.proves(.web, "There are live events, health, metrics and badges"))
    func testThatAChangeIsToldAtOnce() async throws {
        try await withSample { web in
            // given
            let transport = try CurlTransport()
            var request = TransferRequest(.get, "http://127.0.0.1:\(web.port)/api/v1/events")
            request.isPlainHTTPAllowed = true
            let stream = try await transport.stream(request)
            #expect(stream.status == 200)
            #expect(stream.headers["Content-Type"] == "text/event-stream")
            var text = ""
            var iterator = stream.body.makeAsyncIterator()
            text += String(decoding: try await iterator.next() ?? [], as: UTF8.self)
            // when
            let ref = RefName(branch: "main")
            let commit = SampleContent.commits[0]
            let new = NewIntegration(bot: SampleContent.kit, ref: ref, commit: commit, cause: .person)
            _ = try await web.store.queue(new, at: WebFixture.now)
            // then
            while !text.contains("event: integration"), let bytes = try await iterator.next() {
                text += String(decoding: bytes, as: UTF8.self)
            }
            expectContains(text, "event: integration\ndata: {\"bot\":\"kit\",\"number\":4}\n\n")
        }
    }
}
