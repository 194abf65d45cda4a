import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// Long pages show a part, the total counts, and links to the rest.
@Suite struct PagingTests {
    /// Stores an ended integration of `kit` with a number of new issues and passed tests.
    @discardableResult
    private func fill(_ web: WebFixture, issues: Int, tests: Int = 0) async throws -> IntegrationID {
        let (store, at, kit) = (web.store, WebFixture.now + .seconds(-600), SampleContent.kit)
        try await store.register([BotSpecification(name: kit, repository: SampleContent.repository)], at: at)
        let id = try await store.queue(
            NewIntegration(
                bot: kit, ref: RefName(branch: "main"), commit: SampleContent.commits[0], cause: .person,
                requestedBy: "ada"), at: at
        ).id
        _ = try await store.apply(.started, to: id, at: at)
        _ = try await store.recordPreparation(
            of: id,
            Store.Preparation(
                recipe: Recipe(configurations: [Recipe.Configuration(name: SampleContent.debug)]),
                commit: CommitSummary(
                    subject: "Read the header", author: "Ada Okafor", committedAt: at,
                    tree: String(repeating: "e", count: 40))),
            at: at)
        _ = try await store.apply(.entered(.running), to: id, at: at)
        let attempt = try await store.addAttempt(to: id, job: SampleContent.debug, at: at)
        try await store.apply(.entered(.testing), to: attempt.id, at: at, isolation: .none(reason: "none"))
        try await store.apply(.ended, to: attempt.id, at: at + .seconds(1))
        try await store.storeResults(
            AttemptResults(
                tests: (0..<tests).map { number in
                    TestResult(suite: "KitTests", name: "test\(10_000 + number)", outcome: .passed)
                }, artifacts: [], counts: Counts(), analysis: "clean", tested: "\(tests) tests", verdict: .warnings),
            of: attempt.id, at: at + .seconds(1))
        try await store.completeIssues(
            of: id,
            issues: (0..<issues).map { number in
                Model.Issue(
                    fingerprint: "\(10_000 + number)" + String(repeating: "f", count: 59), status: .new,
                    finding: Finding(
                        category: .warning, message: "message \(10_000 + number)",
                        path: "Sources/\(10_000 + number).swift",
                        line: 3), age: 1, configurations: [SampleContent.debug])
            }, summary: Summary(), at: at + .seconds(2))
        _ = try await store.apply(.completed(.warnings, triggerFailed: false), to: id, at: at + .seconds(3))
        return id
    }

    private static func count(_ text: String, in page: String) -> Int { page.ranges(of: text).count }

    @Test(.proves(.web, "Pages of 200 issues or 1,000 tests with links to the rest and the counts of all"))
    func testThatAnIntegrationFoldsItsWarningsAndLinksToTheRest() async throws {
        try await withWeb { web in
            // given
            try await fill(web, issues: 201)
            // when
            let page = try await web.send("GET", "/bots/kit/1").text
            let rest = try await web.send("GET", "/bots/kit/1/issues?after=200").text
            // then
            #expect(Self.count("<p class=\"message\">", in: page) == 5)
            expectContains(page, "Warnings <span class=\"quiet\">201</span>")
            expectContains(page, "<span class=\"count warn\">201</span> <span class=\"tag warn\">201 new</span>")
            expectContains(page, "<a href=\"/bots/kit/1/issues\">196 more</a>")
            #expect(Self.count("<p class=\"message\">", in: rest) == 1)
            expectContains(rest, "message 10200")
            expectContains(rest, "201 to 201 of 201 issues")
            expectContains(rest, "<a href=\"/bots/kit/1/issues?after=0\" rel=\"prev\">Previous</a>")
            #expect(!rest.contains("rel=\"next\"") && !rest.contains("1 more"))
        }
    }

    @Test(.proves(.web, "Pages of 200 issues or 1,000 tests with links to the rest and the counts of all"))
    func testThatAPageOfIssuesLinksToTheNext() async throws {
        try await withWeb { web in
            // given
            try await fill(web, issues: 401)
            // when
            let page = try await web.send("GET", "/bots/kit/1/issues").text
            let beyond = try await web.send("GET", "/bots/kit/1/issues?after=500").text
            // then
            #expect(Self.count("<p class=\"message\">", in: page) == 200)
            expectContains(page, "1 to 200 of 401 issues")
            expectContains(page, "<a href=\"/bots/kit/1/issues?after=200\" rel=\"next\">More</a>")
            #expect(!page.contains("rel=\"prev\""))
            expectContains(beyond, "No more.")
            try await web.expect(400, "GET", "/bots/kit/1/issues?after=-1")
            try await web.expect(404, "GET", "/bots/kit/2/issues")
        }
    }

    @Test(.proves(.web, "Pages of 200 issues or 1,000 tests with links to the rest and the counts of all"))
    func testThatAnIntegrationShows300TestsAndLinksToTheRest() async throws {
        try await withWeb { web in
            // given
            try await fill(web, issues: 0, tests: 1001)
            // when
            let page = try await web.send("GET", "/bots/kit/1").text
            let first = try await web.send("GET", "/bots/kit/1/tests").text
            let rest = try await web.send("GET", "/bots/kit/1/tests?after=1000").text
            let found = try await web.send("GET", "/bots/kit/1/tests?query=TEST1100").text
            // then
            #expect(Self.count("<th scope=\"row\">", in: page) >= 300)
            expectContains(page, "1,001 tests, 300 shown")
            expectContains(page, "<a href=\"/bots/kit/1/tests\">701 more</a>")
            #expect(Self.count("<th scope=\"row\">", in: first) == 1000)
            expectContains(first, "<a href=\"/bots/kit/1/tests?after=1000\" rel=\"next\">More</a>")
            expectContains(first, "1 to 1,000 of 1,001")
            expectContains(rest, "test11000")
            expectContains(rest, "<a href=\"/bots/kit/1/tests\" rel=\"prev\">Previous</a>")
            #expect(Self.count("<th scope=\"row\">", in: found) == 1)
            expectContains(found, ">test11000</a>")
            try await web.expect(400, "GET", "/bots/kit/1/tests?query=" + String(repeating: "a", count: 201))
        }
    }

    @Test func testThatTheOverviewShowsWhatChanged() async throws {
        try await withWeb { web in
            // given: it was requested before
            try await fill(web, issues: 0)
            let before = try await web.send("GET", "/").text
            // when
            let second = try await web.store.queue(
                NewIntegration(
                    bot: SampleContent.kit, ref: RefName(branch: "main"), commit: SampleContent.commits[1], cause: .push
                ),
                at: WebFixture.now)
            let after = try await web.send("GET", "/").text
            // then
            #expect(second.id.number == 2)
            expectContains(before, "href=\"/bots/kit/1\"")
            #expect(!before.contains("/bots/kit/2"))
            expectContains(after, "#2 queued</a>")
            expectContains(after, "href=\"/bots/kit/1\"><span class=\"result warn\">")
        }
    }

    @Test(.proves(.web, "Lists read what they show, however many bots, issues and queued integrations there are"))
    func testThatOnlyChangedArticlesAreRendered() throws {
        // given
        let articles = BotArticles()
        func bot(_ name: String, isRetired: Bool = false) -> BotArticles.Content {
            BotArticles.Content(
                BotOverview(
                    name: Name(nearest: name), repository: SampleContent.repository, isRetired: isRetired,
                    lookError: nil,
                    isEmpty: false, branches: [], total: 0), at: WebFixture.now)
        }
        func ask(_ bots: [BotArticles.Content]) -> (html: String, rendered: [String]) {
            var rendered: [String] = []
            let html = articles.html(bots) { content in
                rendered.append(content.bot.name.description)
                return "<\(content.bot.name)\(content.bot.isRetired ? " gone" : "")>"
            }
            return (html, rendered)
        }
        // when
        let first = ask([bot("app"), bot("kit")])
        let same = ask([bot("app"), bot("kit")])
        let changed = ask([bot("app"), bot("kit", isRetired: true)])
        let fewer = ask([bot("kit", isRetired: true)])
        let again = ask([bot("app"), bot("kit", isRetired: true)])
        // then
        #expect(first.html == "<app><kit>" && first.rendered == ["app", "kit"])
        #expect(same.html == first.html && same.rendered.isEmpty)
        #expect(changed.html == "<app><kit gone>" && changed.rendered == ["kit"])
        #expect(fewer.html == "<kit gone>" && fewer.rendered.isEmpty)
        #expect(again.rendered == ["app"], "a bot that was not shown is forgotten")
    }
}
