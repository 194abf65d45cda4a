import Encodings
import Model
import SourceControl
import Storage
import TestSupport
import Testing

@testable import Web

/// What an integration's page shows first, and its links to the forge.
@Suite struct IntegrationPageTests {
    private static let kit = SampleContent.kit
    private static let forged = "\"><script>\"\u{301} ../../x"

    /// Stores an integration with a failing test and an error in both configurations, and a warning in one.
    @discardableResult
    private static func fill(
        _ web: WebFixture, repository: String, commit: CommitID, test: String = "KitTests.ParserTests/parses(\"a/b\")",
        path: String = "Sources/Kit/Parser.swift", ref: RefName = RefName(branch: "main")
    ) async throws -> IntegrationID {
        let (store, at) = (web.store, WebFixture.now + .seconds(-600))
        try await store.register([BotSpecification(name: kit, repository: repository)], at: at)
        let id = try await store.queue(
            NewIntegration(bot: kit, ref: ref, commit: commit, cause: .poll), at: at
        ).id
        _ = try await store.apply(.started, to: id, at: at)
        let names = [SampleContent.debug, SampleContent.release]
        _ = try await store.recordPreparation(
            of: id,
            Store.Preparation(
                recipe: Recipe(configurations: names.map { Recipe.Configuration(name: $0) }),
                commit: CommitSummary(subject: "Parse more", author: "Ada", committedAt: at, tree: "")), at: at)
        _ = try await store.apply(.entered(.running), to: id, at: at)
        for name in names {
            let attempt = try await store.addAttempt(to: id, job: name, at: at).id
            for (index, step) in [JobStep.building, .testing].enumerated() {
                try await store.apply(.entered(step), to: attempt, at: at, isolation: .sandbox)
                try await store.record(
                    step: StepRecord(
                        index: index, step: step, name: step.rawValue, startedAt: at, endedAt: at + .seconds(1),
                        exit: 1), of: attempt)
            }
            try await store.apply(.ended, to: attempt, at: at + .seconds(2))
            try await store.storeResults(
                AttemptResults(
                    tests: [
                        TestResult(
                            suite: "KitTests.ParserTests", name: "parses(\"a/b\")", outcome: .failed,
                            message: "2 is not 3", path: path, line: 4),
                        TestResult(suite: "KitTests.ParserTests", name: "ends()", outcome: .passed),
                    ], analysis: "clean", tested: "2 tests", verdict: .testFailures), of: attempt, at: at + .seconds(2))
        }
        let introduction = Introduction(
            commit: commit, author: "Ada", email: "ada@acme.example", strategy: .blameLine, confidence: .low)
        func issue(_ finding: Finding, _ age: Int, in configurations: [Name], _ step: JobStep) -> Model.Issue {
            Model.Issue(
                fingerprint: "\(finding.category)" + String(repeating: "f", count: 40),
                status: age > 1 ? .unresolved : .new,
                finding: finding, age: age, since: age > 1 ? 7 : nil, configurations: configurations,
                introducedBy: introduction, step: step)
        }
        let issues = [
            issue(
                Finding(category: .testFailure, message: "2 is not 3", rule: test, path: path, line: 4), 1, in: names,
                .testing),
            issue(
                Finding(category: .error, message: "no such module\nin file b", rule: "E7", path: path, line: 2), 3,
                in: [SampleContent.release], .building),
            issue(
                Finding(category: .warning, message: "unused", rule: "unused-variable", path: path, line: 3), 1,
                in: names, .building),
        ]
        var counts = Counts()
        (counts.errors, counts.testFailures, counts.warnings, counts.tests) = (1, 1, 1, 4)
        try await store.completeIssues(
            of: id, issues: issues,
            summary: Summary(counts: counts, tally: try await store.testTally(of: id)), at: at + .seconds(3))
        _ = try await store.apply(.completed(.buildErrors, triggerFailed: false), to: id, at: at + .seconds(4))
        return id
    }

    @Test(
        .proves(.web, "An integration's page begins with its verdict as a sentence"),
        .proves(.web, "One failure in several configurations is one card, by its name, with history, suspect and log"))
    func testThatAFailureIsOneCardByItsName() async throws {
        try await withWeb { web in
            // given
            try await Self.fill(web, repository: SampleContent.repository, commit: SampleContent.commits[0])
            // when
            let page = try await web.send("GET", "/bots/kit/1").text
            // then
            expectContains(
                page,
                "<strong>It does not build: 1 error, 2 tests in 2 configurations, 1 fails, 1 warning.</strong>")
            #expect(page.ranges(of: "<article class=\"job fail").count == 2)
            expectContains(page, ">parses(&quot;a/b&quot;)</a> <span class=\"quiet\">KitTests.ParserTests</span>")
            expectContains(page, "<p class=\"meta\">test failure in both configurations</p>")
            expectContains(page, "<h3>no such module</h3>")
            expectContains(page, "<p class=\"meta\">error only in release</p>")
            expectContains(page, "<pre>in file b</pre>")
            expectContains(page, "href=\"/bots/kit/1/log/debug?attempt=1&amp;step=1\">debug</a>")
            expectContains(page, "href=\"/bots/kit/1/log/release?attempt=1&amp;step=0\">release</a>")
            expectContains(page, "<a href=\"/bots/kit/7\">for 3 integrations, since kit#7</a>")
            expectContains(page, "perhaps by Ada in <code>")
            expectContains(page, "<span class=\"name\">unused-variable</span> <span class=\"count warn\">1</span>")
            expectContains(page, "<b>Branch</b> <span>")
            expectContains(page, "<span>found by polling</span>")
            expectContains(page, "sandboxed")
            let failures = try #require(page.firstRange(of: "id=\"issues\""))
            let configurations = try #require(page.firstRange(of: "id=\"configurations\""))
            #expect(failures.lowerBound < configurations.lowerBound)
        }
    }

    @Test(
        .proves(
            .web, "Pages link to the forge's commit, comparison, branch, pull request, file and line, for seven forges")
    )
    func testThatPagesLinkToTheForge() async throws {
        try await withWeb { web in
            // given
            let forge = "https://github.com/acme/kit"
            try await Self.fill(web, repository: forge + ".git", commit: SampleContent.commits[0])
            let id = try await Self.fill(web, repository: forge + ".git", commit: SampleContent.commits[1])
            let (old, new) = (SampleContent.commits[0], SampleContent.commits[1])
            // when
            let page = try await web.send("GET", "/bots/kit/\(id.number)").text
            let issues = try await web.send("GET", "/bots/kit/\(id.number)/issues").text
            let json = try await web.json("/api/v1/bots/kit/integrations/\(id.number)")
            let name = PercentEncoding.encode("KitTests.ParserTests/parses(\"a/b\")")
            let test = try await web.send("GET", "/bots/kit/tests/history?name=\(name)").text
            let bot = try await web.send("GET", "/bots/kit").text
            // then
            expectContains(test, "href=\"\(forge)/commit/\(new)\"")
            expectContains(test, "href=\"\(forge)/blob/\(new)/Sources/Kit/Parser.swift#L4\"")
            expectContains(bot, "<a href=\"\(forge)\" rel=\"noreferrer\">\(forge).git</a>")
            for link in [
                "\(forge)/commit/\(new)", "\(forge)/compare/\(old)...\(new)", "\(forge)/tree/main",
                "\(forge)/blob/\(new)/Sources/Kit/Parser.swift#L4",
            ] {
                expectContains(page, "href=\"\(link)\" rel=\"noreferrer\"")
            }
            expectContains(issues, "href=\"\(forge)/blob/\(new)/Sources/Kit/Parser.swift#L3\"")
            expectContains(
                json,
                #""forge":{"repository":"\#(forge)","commit":"\#(forge)/commit/\#(new)","ref":"\#(forge)/tree/main","#
                    + #""comparison":"\#(forge)/compare/\#(old)...\#(new)"}"#
            )
            expectContains(
                json,
                #""tally":{"tests":2,"configurations":2,"failing":1,"flaky":0,"skipped":0,"says":"2 tests in 2 configurations, 1 fails"}"#
            )
        }
    }

    @Test(.proves(.web, "A failure's card shows the source around its line, from the mirror at that commit"))
    func testThatACardShowsTheSource() async throws {
        try await withWeb { web in
            // given
            let origin = try await GitRepository.make(at: web.directory.path("kit"))
            let lines = (1...20).map { $0 == 4 ? "let x = \"<b>\"\u{1B}[31m" : "line \($0)" }
            let commit = try await origin.commit(
                files: ["Sources/Kit/Parser.swift": lines.joined(separator: "\n") + "\n"], message: "Parse")
            let mirror = Mirrors(directory: web.directory.path("repositories")).mirror(
                of: try RemoteURL(origin.path, isInsecureAllowed: true))
            try await mirror.fetch([RefName(branch: "main"): commit])
            try await Self.fill(web, repository: origin.path, commit: commit)
            // when
            let page = try await web.send("GET", "/bots/kit/1").text
            // then
            expectContains(
                page, "<span class=\"marked\"><i>4</i>let x = &quot;&lt;b&gt;&quot;\u{FFFD}[31m\n</span>")
            expectContains(page, "<span><i>1</i>line 1\n</span>")
            expectContains(page, "<span><i>7</i>line 7\n</span>")
            #expect(!page.contains("line 8") && !page.contains("\u{1B}"))
        }
    }

    @Test(.threat("X1"), .threat("X2")) func testThatHostileNamesOpenNoElementAndNoLink() async throws {
        try await withWeb { web in
            // given
            try await Self.fill(
                web, repository: "https://github.com/acme/kit", commit: SampleContent.commits[0], test: Self.forged,
                path: Self.forged, ref: RefName(branch: Self.forged))
            // when
            for path in ["/bots/kit/1", "/bots/kit/1/issues", "/bots/kit/1/tests"] {
                let page = try await web.send("GET", path).text
                // then
                #expect(!page.contains("<script>\""), "\(path)")
                #expect(!page.contains("github.com/acme/kit/blob"), "\(path): no file of the commit has such a path")
                #expect(page.unicodeScalars.firstRange(of: Array("\"\u{301}".unicodeScalars)) == nil, "\(path)")
            }
        }
    }

    @Test(.proves(.web, "Tests that are ticked run again, in the configurations that ran them"))
    func testThatOnlyAnOperatorHasBoxesToTick() async throws {
        try await withWeb { web in
            // given
            try await Self.fill(web, repository: SampleContent.repository, commit: SampleContent.commits[0])
            // when
            let visitor = try await web.send("GET", "/bots/kit/1/tests").text
            let viewer = try await web.send("GET", "/bots/kit/1/tests", as: .viewer).text
            let keeper = try await web.send("GET", "/bots/kit/1/tests", as: .operator).text
            // then
            #expect(!visitor.contains("type=\"checkbox\"") && !viewer.contains("type=\"checkbox\""))
            expectContains(
                keeper,
                "<input type=\"checkbox\" name=\"test\" value=\"KitTests.ParserTests/parses(&quot;a/b&quot;)\">")
        }
    }

    @Test func testThatTheFormPostsTheTickedTests() throws {
        // given
        let view: ViewObject = [
            "bot": "kit", "number": "7", "href": "/bots/kit/7", "hasTree": true, "hasBoxes": true, "mayIntegrate": true,
            "csrf": "t0ken",
        ]
        // when
        let form = try Templates().render("suites", view)
        // then
        expectContains(form, "<form class=\"tree-run may\" method=\"post\" action=\"/bots/kit/integrations/7/rerun\">")
        expectContains(form, "<input type=\"hidden\" name=\"csrf\" value=\"t0ken\">")
        expectContains(form, "<input type=\"hidden\" name=\"what\" value=\"tests\">")
    }

    @Test(arguments: [
        (Finding(category: .testFailure, message: "m", rule: "a/b/c(\"x/y\")"), "a/b", "c(\"x/y\")", "m"),
        (Finding(category: .testFailure, message: "m", rule: "plain"), nil as String?, "plain", "m"),
        (Finding(category: .error, message: "one\ntwo", rule: "E"), nil, "one", "two"),
        (Finding(category: .error, message: "one", rule: "E"), nil, "one", nil),
    ])
    func testThatAFailureIsCalledByItsName(_ finding: Finding, _ suite: String?, _ name: String, _ rest: String?) {
        let (title, message) = Pages.title(of: finding)
        #expect(title.suite == suite && title.name == name && message == rest)
    }
}
