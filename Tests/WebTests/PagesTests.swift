import Encodings
import JobProtocol
import Model
import Storage
import TestSupport
import Testing

@testable import Web

@Suite struct PagesTests {
    private func withSample(_ body: @Sendable (WebFixture) async throws -> Void) async throws {
        try await withWeb { web in
            try await SampleContent(web: web).fill()
            try await body(web)
        }
    }

    @Test(
        .proves(.web, "There is a page for bots"), .proves(.web, "There is a page for products"),
        .proves(.web, "There is a page for deliveries"),
        .proves(.web, "Pages work without JavaScript and have no inline script or style"))
    func testThatAPageIsWhole() async throws {
        let paths = [
            "/", "/bots/kit", "/bots/kit?branch=main", "/bots/kit/1", "/bots/kit/1?failing", "/bots/kit/3",
            "/bots/kit/1/log/debug", "/bots/kit/1/log/debug?step=2", "/products", "/products/kit", "/deliveries",
            "/queue",
            "/?q=main",
            "/files/",
        ]
        try await withSample { web in
            for path in paths {
                let answer = try await web.send("GET", path)
                #expect(answer.status == 200)
                #expect(answer["Content-Type"] == "text/html; charset=utf-8")
                for part in [
                    "<!doctype html>", "<html lang=\"en\">", "<main id=\"main\">", "</main>", "<h1", "</html>",
                ] {
                    expectContains(answer.text, part)
                }
                // No tag of a template is left, and no absent value is shown.
                for word in ["{{", "}}", "Optional(", ">false<", "nil"] {
                    #expect(!answer.text.contains(word), "\(path): \(word)")
                }
                // There is no inline code, which the policy would not let run.
                for word in ["style=", "<style", "onclick", "javascript:"] {
                    #expect(!answer.text.contains(word), "\(path): \(word)")
                }
            }
        }
    }

    @Test(
        .proves(.reports, "Counts with ± on the page"),
        .proves(.web, "There is a page for an integration, with steps, log and artifacts"),
        .proves(.web, "An integration's page shows issues with ±"))
    func testThatAnIntegrationShowsWhatChanged() async throws {
        try await withSample { web in
            let page = try await web.send("GET", "/bots/kit/2").text
            expectContains(page, "<b>1</b> <em class=\"good\">\u{2212}1</em> <span>warning</span>")
            expectContains(page, "<a href=\"/bots/kit/2/issues?after=1\">1 resolved</a>")
            expectContains(page, "Sources/Kit/Parser.swift:27:9")
            expectContains(page, "swift build --build-tests")
            expectContains(page, "kit-1.0.0-source.tar.gz")
        }
    }

    @Test(
        .proves(
            .web,
            "An integration's page shows what does not count: muted warnings of a job, a failed step of a green one"))
    func testThatWhatDoesNotCountIsSaid() async throws {
        try await withWeb { web in
            // given
            var sample = SampleContent(web: web)
            sample.isSilenced = true
            try await sample.fill()
            // when
            let warned = try await web.send("GET", "/bots/kit/2").text
            let red = try await web.send("GET", "/bots/kit/1").text
            // then
            #expect(warned.ranges(of: "<span class=\"quiet\">muted</span>").count == 2, "both configurations")
            expectContains(warned, "<td class=\"end\">exit 1, not counted</td>")
            #expect(!red.contains("not counted") && !red.contains("<span class=\"quiet\">muted</span>"))
        }
    }

    @Test(.proves(.web, "An integration's page shows tests by class, with a filter for failing ones"))
    func testThatTheFilterOnFailingWorksWithoutAScript() async throws {
        try await withSample { web in
            let page = try await web.send("GET", "/bots/kit/1?failing").text
            #expect(page.contains("parsesAnEmptyLine()") && !page.contains("keepsOrder()"))
            expectContains(page, "(lines.count → 3) == 2")
        }
    }

    @Test func testThatMissingPagesSaySoAsPages() async throws {
        try await withSample { web in
            for path in ["/bots/nobody", "/bots/kit/99", "/products/nothing", "/nowhere"] {
                let answer = try await web.send("GET", path, headers: [("Accept", "text/html")])
                #expect(answer.status == 404, "\(path)")
                expectContains(answer.text, "<h1>Not Found</h1>")
            }
        }
    }

    @Test(.proves(.web, "There is a page for an integration, with steps, log and artifacts"))
    func testThatTheLogHasItsStepsAndLines() async throws {
        try await withSample { web in
            let page = try await web.send("GET", "/bots/kit/1/log/debug").text
            expectContains(page, "building · swift build --build-tests</span>")
            expectContains(
                page, "<span id=\"L2\"><a href=\"#L2\" tabindex=\"-1\">2</a>Building for debugging...</span>")
            expectContains(page, "<span class=\"f2\">✔</span> Test &quot;keepsOrder()&quot;")
            #expect(!page.contains("\u{1B}"))
        }
    }

    @Test(.proves(.web, "There is a page for an integration, with steps, log and artifacts"))
    func testThatALargeLogIsShownByParts() async throws {
        try await withSample { web in
            // given
            let line = "0123456789012345678901234567890123456789\n"
            var (log, index) = ([UInt8](), [UInt8]())
            for number in 0..<20_000 {
                if number % 1000 == 0 {
                    index += LogIndexRecord(
                        offset: UInt64(log.count), millisecondsSinceEpoch: 0, firstLine: UInt32(number + 1),
                        step: UInt16(number / 10_000), flags: []
                    ).bytes()
                }
                log += line.utf8
            }
            try web.directory.write("state/integrations/kit/1/debug/1/log", log)
            try web.directory.write("state/integrations/kit/1/debug/1/log.index", index)
            // when
            let tail = try await web.send("GET", "/bots/kit/1/log/debug").text
            let step = try await web.send("GET", "/bots/kit/1/log/debug?step=1").text
            let first = try await web.send("GET", "/bots/kit/1/log/debug?from=0").text
            // then
            expectContains(tail, "id=\"L20000\"")
            #expect(!tail.contains("id=\"L2\""))
            expectContains(step, "id=\"L10001\"")
            #expect(!step.contains("id=\"L10000\""))
            expectContains(first, "id=\"L1\"")
            expectContains(first, "Later")
            #expect(tail.utf8.count < 2_000_000)
        }
    }

    @Test func testThatTheRawLogIsServedByRanges() async throws {
        try await withSample { web in
            let path = "/api/v1/bots/kit/integrations/1/log/debug"
            let all = try await web.send("GET", path)
            #expect(all["Content-Type"] == "text/plain; charset=utf-8")
            expectContains(all.text, "Building for debugging")
            let size = all.body.count
            let rest = try await web.send("GET", path, headers: [("Range", "bytes=\(size - 5)-")])
            #expect(rest.status == 206 && rest.body == Array(all.body.suffix(5)))
            // A client that has everything asks for more.
            let more = try await web.send("GET", path, headers: [("Range", "bytes=\(size)-")])
            #expect(more.status == 416)
            #expect(more["Content-Range"] == "bytes */\(size)")
            try await web.expect(404, "GET", path + "?attempt=2")
            try await web.expect(404, "GET", "/api/v1/bots/kit/integrations/1/log/nothing")
        }
    }

    /// Returns pages that show what a repository, a recipe, a report and a log say, and what a request asks for.
    private static func paths(showing attack: String) -> [String] {
        [
            "/", "/bots/kit", "/bots/kit/1", "/bots/kit/1/log/debug", "/bots/kit/1/log/debug?line=1",
            "/bots/kit/1/log/debug?q=svg", "/bots/kit/1/log/debug?q=\(PercentEncoding.encode(attack))",
            "/bots/kit?branch=\(PercentEncoding.encode(attack))", "/queue", "/screen",
            "/?q=\(PercentEncoding.encode(attack))", "/bots/kit/1/issues", "/bots/kit/1/tests", "/bots/kit/tests",
            "/bots/kit/tests/history?name=\(PercentEncoding.encode("\(attack)/\(attack)"))",
        ]
    }

    /// No foreign text makes an element or an attribute.
    @Test(.threat("X1"), .threat("X2")) func testThatHostileTextStaysText() async throws {
        try await withWeb { web in
            // given
            let links = "[x](javascript:alert(1)) ![y](https://evil.example/y.png) javascript:alert(2)"
            let attack = "\"><svg/onload=1>\"\u{301} onfocus=1 x='{{title}} \(links)"
            let bot = SampleContent.kit
            try await web.store.register(
                [BotSpecification(name: bot, repository: "https://user:hunter2@git.example/\(attack)")],
                at: WebFixture.now)
            let record = try await web.store.queue(
                NewIntegration(
                    bot: bot, ref: RefName(branch: attack), commit: SampleContent.commits[0], cause: .person,
                    requestedBy: attack), at: WebFixture.now)
            _ = try await web.store.apply(.started, to: record.id, at: WebFixture.now)
            _ = try await web.store.recordPreparation(
                of: record.id,
                Store.Preparation(
                    recipe: Recipe(configurations: [.init(name: SampleContent.debug)]),
                    commit: CommitSummary(
                        subject: attack, author: attack, committedAt: WebFixture.now,
                        tree: String(repeating: "e", count: 40))),
                at: WebFixture.now)
            let attempt = try await web.store.addAttempt(to: record.id, job: SampleContent.debug, at: WebFixture.now)
            try await web.store.apply(.entered(.building), to: attempt.id, at: WebFixture.now)
            try await web.store.record(
                step: StepRecord(
                    index: 0, step: .building, name: attack, startedAt: WebFixture.now, endedAt: nil, limit: nil),
                of: attempt.id)
            let finding = Finding(category: .error, message: attack, rule: attack, path: attack, line: 1)
            try await web.store.storeResults(
                AttemptResults(
                    tests: [TestResult(suite: attack, name: attack, outcome: .failed, message: attack, path: attack)],
                    artifacts: [
                        Artifact(
                            configuration: nil, path: attack, size: ByteCount(1),
                            sha256: String(repeating: "a", count: 64))
                    ], analysis: attack, tested: attack, notes: [attack], verdict: .testFailures, reason: attack),
                of: attempt.id, at: WebFixture.now)
            try await web.store.completeIssues(
                of: record.id,
                issues: [
                    Model.Issue(
                        fingerprint: String(repeating: "a", count: 64), status: .new, finding: finding, age: 1,
                        configurations: [SampleContent.debug])
                ], summary: Summary(), at: WebFixture.now)
            try web.directory.write("state/integrations/kit/1/debug/1/log", attack + "\n")
            let paths = Self.paths(showing: attack)
            for path in paths {
                // when
                let page = try await web.send("GET", path).text
                // then
                expectContains(page, "svg/onload=1")
                #expect(!page.contains("<svg/onload"), "\(path)")
                // A log links the addresses that it prints, for people to follow.
                let other =
                    path.contains("/log/") ? page.replacing("<a href=\"https://evil.example/y.png\"", with: "") : page
                #expect(!other.contains(/(href|src)="?(javascript:|https:\/\/evil)/), "\(path)")
                #expect(!page.contains("hunter2"), "\(path)")
                // Every quotation mark of the attack is escaped, also the one with a combining mark.
                for scalar in ["\"\u{301}", "'{{title"] {
                    #expect(page.unicodeScalars.firstRange(of: Array(scalar.unicodeScalars)) == nil, "\(path)")
                }
            }
        }
    }
}
