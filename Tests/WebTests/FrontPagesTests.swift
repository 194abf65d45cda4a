import Encodings
import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// What one sees first: the overview, a bot's page, the queue and the big screen.
@Suite struct FrontPagesTests {
    private static let kit = SampleContent.kit
    private static let main = RefName(branch: "main")

    /// Fills the service, and says that `main` is the default branch.
    private func withSample(_ body: @Sendable (WebFixture) async throws -> Void) async throws {
        try await withWeb { web in
            try await SampleContent(web: web).fill()
            let request = try #require(try await web.store.repositoriesToScan().first)
            _ = try await web.store.apply(
                RefScan(
                    request: request,
                    heads: [
                        Self.main: SampleContent.commits[1], RefName(branch: "release/1.0"): SampleContent.commits[2],
                    ],
                    defaultBranch: Self.main, at: WebFixture.now, cause: .poll, watchers: []))
            try await body(web)
        }
    }

    private func queue(_ web: WebFixture, on ref: RefName = Self.main) async throws -> IntegrationID {
        try await web.store.queue(
            NewIntegration(bot: Self.kit, ref: ref, commit: SampleContent.commits[2], cause: .push),
            at: WebFixture.now + .seconds(-30)
        ).id
    }

    private static func rows(_ page: String) -> [Substring] { page.pieces("<tr>").dropFirst().map { $0 } }

    // MARK: The overview

    @Test(
        .proves(.web, "The overview has the default branch first, then live branches; deleted branches are left out"),
        .proves(.web, "The last verdict stays visible while a new integration is under way"))
    func testThatTheOverviewHasTheDefaultBranchFirstWithItsLastVerdict() async throws {
        try await withSample { web in
            // given
            let id = try await queue(web)
            _ = try await web.store.apply(.started, to: id, at: WebFixture.now)
            // when
            let page = try await web.send("GET", "/").text
            // then
            let rows = Self.rows(page).filter { $0.contains("scope=\"row\"") }
            #expect(rows.count == 2)
            expectContains(String(rows[0]), "<a class=\"ref main\" href=\"/bots/kit?branch=main\">main</a>")
            expectContains(String(rows[0]), "warnings</span>\n</a> <a class=\"now busy\" href=\"/bots/kit/4\">")
            expectContains(String(rows[0]), "aria-label=\"Last 2: 1 test failures, 1 warnings; median")
            expectContains(String(rows[1]), ">release/1.0</a>")
            #expect(page.ranges(of: "<table").count == 1, "one table for all bots")
        }
    }

    @Test(
        .proves(.web, "The overview counts what is red, runs and waits, and filters by text and state"))
    func testThatTheOverviewCountsAndFiltersWithoutAScript() async throws {
        try await withSample { web in
            // given
            _ = try await queue(web, on: RefName(branch: "release/1.0"))
            // when
            let all = try await web.send("GET", "/").text
            let red = try await web.send("GET", "/?state=red").text
            let waiting = try await web.send("GET", "/?state=waiting&q=kit").text
            // then
            for text in [">1 bot</a>", ">0 red</a>", ">0 running</a>", ">1 waiting</a>"] { expectContains(all, text) }
            expectContains(red, "No branch matches. <a href=\"/\">Show all</a>")
            #expect(Self.rows(waiting).filter { $0.contains("scope=\"row\"") }.count == 1)
            expectContains(waiting, "name=\"q\" type=\"search\" value=\"kit\"")
            expectContains(waiting, "<input type=\"hidden\" name=\"state\" value=\"waiting\">")
            try await web.expect(200, "GET", "/?q=" + String(repeating: "x", count: 200))
            try await web.expect(400, "GET", "/?q=" + String(repeating: "x", count: 201))
            try await web.expect(400, "GET", "/?state=blue")
        }
    }

    @Test(.proves(.web, "Bots whose file is gone are folded away"))
    func testThatBotsWithoutAFileAreFoldedAway() async throws {
        try await withSample { web in
            // when
            try await web.store.register([], at: WebFixture.now)
            let page = try await web.send("GET", "/").text
            // then
            expectContains(page, "<summary><span class=\"name\">1 bot without a file</span></summary>")
            expectContains(page, "<li><a href=\"/bots/kit\">kit</a>")
            #expect(!page.contains("<table"))
            expectContains(try await web.send("GET", "/bots/kit").text, "The bot’s file is gone.")
        }
    }

    @Test(.proves(.web, "The overview has the default branch first, then live branches; deleted branches are left out"))
    func testThatFurtherBranchesAreCountedAndOneStepAway() async throws {
        try await withWeb { web in
            // given
            let refs = (1...8).map { RefName(branch: "work/\($0)") } + [Self.main]
            try await web.store.register(
                [BotSpecification(name: Self.kit, repository: SampleContent.repository)], at: WebFixture.now)
            for ref in refs { _ = try await queue(web, on: ref) }
            let request = try #require(try await web.store.repositoriesToScan().first)
            _ = try await web.store.apply(
                RefScan(
                    request: request,
                    heads: Dictionary(uniqueKeysWithValues: refs.map { ($0, SampleContent.commits[2]) }),
                    defaultBranch: Self.main, at: WebFixture.now, cause: .poll, watchers: []))
            // when
            let page = try await web.send("GET", "/").text
            let link = try #require(
                page.firstMatch(of: /<tr class="more">.*?<a href="([^"]+)">4 more<\/a>/)?.1, "\(page)")
            let whole = try await web.send("GET", String(link)).text
            // then
            func count(_ page: String) -> Int { Self.rows(page).filter { $0.contains("class=\"ref") }.count }
            #expect(count(page) == 5)
            #expect(count(whole) == 9)
            expectLacks(whole, " more</a>")
        }
    }

    // MARK: The default branch

    @Test(
        .proves(
            .web, "Badge, cctray, metrics, `latest` and a bot's tests are the default branch's unless a branch is named"
        ))
    func testThatABotIsItsDefaultBranchUnlessABranchIsNamed() async throws {
        try await withSample { web in
            // given: release/1.0 is newer and green, and main has warnings
            let release = "?branch=release%2F1.0"
            // then
            expectContains(try await web.send("GET", "/badge/kit.svg").text, "kit: warnings")
            expectContains(try await web.send("GET", "/badge/kit.svg" + release).text, "kit: succeeded")
            expectContains(try await web.send("GET", "/cctray.xml").text, "lastBuildLabel=\"2\"")
            expectContains(
                try await web.send("GET", "/metrics").text, "martlet_bot_result{bot=\"kit\",result=\"warnings\"} 1")
            expectContains(try await web.json("/api/v1/bots/kit/integrations/latest"), "\"number\":2,")
            expectContains(try await web.json("/api/v1/bots/kit/integrations/latest" + release), "\"number\":3,")
            try await web.expect(404, "GET", "/api/v1/bots/kit/integrations/latest?branch=nothing")
            expectContains(try await web.send("GET", "/bots/kit/tests").text, "as of #2")
            expectContains(try await web.send("GET", "/bots/kit/tests" + release).text, "as of #3")
            expectContains(try await web.json("/api/v1/bots/kit/tests"), "\"integration\":\"kit#2\"")
        }
    }

    // MARK: A bot

    @Test(
        .proves(.web, "A bot's page has plots over the last 100 integrations of a branch, and their values as CSV"),
        .proves(.web, "A bot's page has pass rate, median and slowest steps"))
    func testThatABotsPageHasItsStateAndPlots() async throws {
        try await withSample { web in
            // when
            let page = try await web.send("GET", "/bots/kit").text
            let release = try await web.send("GET", "/bots/kit?branch=release%2F1.0").text
            // then
            expectContains(page, "<span class=\"ref\">main</span> <a href=\"/bots/kit/2\">#2</a> Skip empty lines")
            expectContains(page, "<dt>Pass rate</dt><dd>50 % of the last 2</dd>")
            expectContains(page, "<dt>Median duration</dt><dd>40 s</dd>")
            expectContains(
                page, "aria-label=\"Duration of 2 integrations: from 40 s to 40 s, at least 40 s, at most 40 s\"")
            expectContains(page, "<title>#1: 1, test failures</title>")
            for plot in ["Waiting time", "Tests", "Failing tests", "Errors, warnings and findings"] {
                expectContains(page, "aria-label=\"\(plot) of 2 integrations: from ")
            }
            expectContains(page, "<code>swift build --build-tests</code></td><td class=\"num\">11 s</td>")
            expectContains(release, "<span class=\"ref\">release/1.0</span> <a href=\"/bots/kit/3\">#3</a>")
            #expect(!release.contains("<svg class=\"plot\""), "one integration makes no line")
        }
    }

    @Test(.proves(.web, "A bot's page has plots over the last 100 integrations of a branch, and their values as CSV"))
    func testThatThePlotsValuesAreCSV() async throws {
        try await withSample { web in
            let answer = try await web.send("GET", "/bots/kit/trend.csv")
            #expect(answer["Content-Type"] == "text/csv; charset=utf-8; header=present")
            let lines = answer.text.pieces("\r\n")
            #expect(lines.count == 4 && lines[3].isEmpty)
            expectContains(String(lines[0]), "number,commit,result,queued,started,ended,duration_seconds")
            #expect(
                lines[2] == "2,\(SampleContent.commits[1]),warnings,2026-03-01T11:10:00.000Z,2026-03-01T11:10:01.000Z,"
                    + "2026-03-01T11:10:41.000Z,40.0,1.0,12,0,0,1,0,")
            let release = try await web.send("GET", "/bots/kit/trend.csv?branch=release%2F1.0").text
            #expect(release.pieces("\r\n").count == 3)
        }
    }

    @Test func testThatABotWithoutResultsSaysSo() async throws {
        try await withWeb { web in
            try await web.store.register(
                [BotSpecification(name: Self.kit, repository: SampleContent.repository)], at: WebFixture.now)
            expectContains(try await web.send("GET", "/bots/kit").text, "No results yet.")
            expectContains(try await web.send("GET", "/").text, "No results yet.")
            expectContains(try await web.send("GET", "/screen").text, "No results yet")
            #expect(try await web.send("GET", "/bots/kit/trend.csv").text.pieces("\r\n").count == 2)
        }
    }

    // MARK: The queue

    @Test(
        .proves(
            .web, "The queue shows what runs and what waits, in order, with reason and estimated start and end"))
    func testThatTheQueueIsShownByPageAndInterface() async throws {
        try await withSample { web in
            // given
            let running = try await queue(web)
            _ = try await web.store.apply(.started, to: running, at: WebFixture.now + .seconds(-10))
            _ = try await queue(web)
            // when
            let page = try await web.send("GET", "/queue").text
            let json = try await web.json("/api/v1/queue")
            // then
            expectContains(page, "1 running, 1 waiting; 1 job at once")
            expectContains(page, "waits for kit#4 on the same branch")
            // It usually takes 40 s.
            expectContains(page, "<time datetime=\"2026-03-01T12:00:30.000Z\">in about 30 s</time>")
            expectContains(page, "<time datetime=\"2026-03-01T12:01:10.000Z\">in about 1 min</time>")
            expectContains(json, "\"reason\":\"waits for kit#4 on the same branch\"")
            expectContains(
                json, "\"start\":\"2026-03-01T12:00:30.000Z\",\"end\":\"2026-03-01T12:01:10.000Z\",\"usual\":40")
            expectContains(try await web.send("GET", "/queue").text, "<progress max=\"100\" value=\"25\"")
            let shown = try await martlet(["queue"], web).stdout.split(separator: "\n").map {
                $0.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
            }
            expectNoDifference(
                shown,
                [
                    "INTEGRATION BRANCH STATE STARTS ENDS WHY",
                    "kit#4 main preparing began 2026-03-01 11:59:50 2026-03-01 12:00:30",
                    "kit#5 main place 1 2026-03-01 12:00:30 2026-03-01 12:01:10 waits for kit#4 on the same branch",
                ])
        }
    }

    @Test func testThatAnEmptyQueueSaysSo() async throws {
        try await withWeb { web in
            let page = try await web.send("GET", "/queue").text
            expectContains(page, "Nothing runs.")
            expectContains(page, "Nothing waits.")
            #expect(
                try await web.json("/api/v1/queue")
                    == #"{"running":[],"waiting":[],"more":0,"slots":1,"pauses":[]}"# + "\n")
        }
    }

    // MARK: The big screen

    @Test(.proves(.web, "The big screen shows a tile for each bot, and goes on to the next ones by itself"))
    func testThatTheBigScreenHasATileForEachBot() async throws {
        try await withSample { web in
            // given
            let id = try await queue(web)
            _ = try await web.store.apply(.started, to: id, at: WebFixture.now + .seconds(-10))
            // when
            let page = try await web.send("GET", "/screen?bots=kit,%3Cb%3E&cycle=5").text
            // then
            expectContains(page, "<main id=\"main\" data-cycle=\"5\">")
            expectContains(page, "<li class=\"tile warn\">")
            expectContains(page, "<p class=\"word\">warnings</p>")
            expectContains(page, "<p class=\"detail\">1 warning</p>")
            expectContains(
                page, "<progress max=\"100\" value=\"25\" aria-label=\"The integration of kit is at about 25 %\">")
            expectContains(page, "There is no bot &lt;b&gt;.")
            #expect(!page.contains("style=") && !page.contains("{{"))
            expectContains(try await web.send("GET", "/screen").text, "data-cycle=\"20\"")
            try await web.expect(400, "GET", "/screen?cycle=-1")
            for asset in ["/screen.js", "/filter.js"] { try await web.expect(200, "GET", asset) }
        }
    }

    // MARK: Drawing

    @Test func testThatTheAxesOfPlotsHaveRoundMarks() {
        func marks(_ unit: Plot.Unit, _ values: [Double?]) -> [String] {
            let plot = Plot(
                title: "x", unit: unit,
                points: values.enumerated().map { .init(number: $0 + 1, value: $1, result: .verdict(.succeeded)) })
            return plot.html.pieces("<text class=\"y\"").dropFirst().map { part in
                String(part.split(separator: ">")[0 + 1].prefix { $0 != "<" })
            }
        }
        #expect(marks(.duration, [241, 30, nil, 200]) == ["0", "2 min", "4 min", "6 min"])
        #expect(marks(.count, [0, 3]) == ["0", "1", "2", "3"])
        #expect(marks(.count, [1197, 4]) == ["0", "500", "1,000", "1,500"])
        #expect(marks(.percent, [87.4, 88.1]) == ["87 %", "87.5 %", "88 %", "88.5 %"])
        #expect(marks(.count, [0, 0]) == ["0", "1"])
    }

    @Test(.proves(.web, "Numbers from a thousand have commas"))
    func testThatLargeNumbersHaveCommas() {
        #expect([0, 999, 1000, 1197, 1_234_567].map(PageText.number) == ["0", "999", "1,000", "1,197", "1,234,567"])
        #expect(PageText.number(-1197) == "\u{2212}1,197")
        #expect(PageText.count(1197, "test") == "1,197 tests")
        #expect(
            [0.4, 59, 90, 7200, 200_000].map { PageText.rough(.seconds($0)) } == [
                "1 s", "59 s", "2 min", "2 h", "2 days",
            ])
    }
}
