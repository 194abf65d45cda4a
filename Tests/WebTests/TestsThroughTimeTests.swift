import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// The history of tests on pages, in the API and on the command line.
@Suite struct TestsThroughTimeTests {
    /// Runs a test with the sample's three integrations, and a fourth in which `keepsOrder()` fails in release and `roundTrips()` is flaky.
    private func withSample(_ body: @Sendable (WebFixture) async throws -> Void) async throws {
        try await withWeb { web in
            try await SampleContent(web: web).fill()
            let store = web.store
            let id = try await store.queue(
                NewIntegration(
                    bot: SampleContent.kit, ref: RefName(branch: "main"), commit: SampleContent.commits[2], cause: .push
                ),
                at: WebFixture.now
            ).id
            _ = try await store.apply(.started, to: id, at: WebFixture.now)
            for job in [SampleContent.debug, SampleContent.release] {
                let attempt = try await store.addAttempt(to: id, job: job, at: WebFixture.now).id
                let isRelease = job == SampleContent.release
                let tests = [
                    TestResult(
                        suite: "KitTests.ParserTests", name: "keepsOrder()", outcome: isRelease ? .failed : .passed,
                        duration: .milliseconds(24), message: isRelease ? "<b>2</b> is not 3" : nil,
                        path: isRelease ? "Tests/a.swift" : nil, line: isRelease ? 7 : nil),
                    TestResult(
                        suite: "KitTests.ParserTests", name: "roundTrips()", outcome: isRelease ? .passed : .flaky,
                        duration: .milliseconds(12), message: isRelease ? nil : "failed in attempt 1: luck"),
                ]
                try await store.storeResults(
                    AttemptResults(tests: tests, analysis: "clean", tested: "2 tests", verdict: .testFailures),
                    of: attempt, at: WebFixture.now)
            }
            _ = try await store.apply(.completed(.testFailures, triggerFailed: false), to: id, at: WebFixture.now)
            try await body(web)
        }
    }

    private static let history = "/bots/kit/tests/history?name=KitTests.ParserTests%2FkeepsOrder%28%29"

    @Suite struct GivenTheInterface {
        private let outer = TestsThroughTimeTests()

        @Test(
            .proves(.testHistory, "The tree of tests has a column for each configuration, and what fails comes first"))
        func testThatATreeShowsWhatFailsFirst() async throws {
            try await outer.withSample { web in
                let page = try await web.send("GET", "/bots/kit/4/tests").text
                expectContains(page, "2 tests in 2 configurations, 1 fails, 1 flaky")
                let first = try #require(page.firstRange(of: ">keepsOrder()<"))
                let second = try #require(page.firstRange(of: ">roundTrips()<"))
                #expect(first.lowerBound < second.lowerBound)
                expectContains(
                    page, "href=\"/bots/kit/tests/history?name=KitTests.ParserTests%2FkeepsOrder%28%29\"")
                expectContains(page, "<span class=\"cell warn\"><span class=\"only\">debug </span>1 flaky</span>")
                expectContains(page, "<span class=\"cell bad\"><span class=\"only\">release </span>1 fails</span>")
            }
        }

        @Test(.proves(.testHistory, "Per test: history, last failures, durations, on which configurations"))
        func testThatATestHasItsHistory() async throws {
            try await outer.withSample { web in
                let json = try await web.json("/api/v1" + TestsThroughTimeTests.history)
                expectContains(
                    json,
                    #"{"suite":"KitTests.ParserTests","name":"keepsOrder()","configurations":["#
                        + #"{"name":"debug","outcome":"passed","integration":"kit#4","failing":0,"#
                        + #""durations":{"count":4,"median":0.012,"p95":0.024,"trend":null},"outcomes":{"passed":4}},"#
                        + #"{"name":"release","outcome":"failed","integration":"kit#4","failing":1,"#)
                expectContains(
                    json, #""configuration":"release","attempt":1,"outcome":"failed","message":"\u003cb\u003e2"#)
                expectContains(json, #""path":"Tests/a.swift","line":7}],"next":null}"#)
                let main = try await web.json("/api/v1" + TestsThroughTimeTests.history + "&branch=main&limit=1")
                expectContains(main, #""next":"4""#)
                #expect(!main.contains("kit#3"))
            }
        }

        @Test func testThatFlakyTestsAndNamesAreListed() async throws {
            try await outer.withSample { web in
                #expect(
                    try await web.json("/api/v1/bots/kit/tests/flaky")
                        == #"{"items":[{"suite":"KitTests.ParserTests","name":"roundTrips()","flaky":1,"changes":0,"#
                        + #""configurations":["debug"],"latest":"kit#4"}],"next":null,"integrations":4}"# + "\n")
                let found = try await web.json("/api/v1/bots/kit/tests?query=writertests/keeps")
                #expect(
                    found
                        == #"{"integration":"kit#4","configurations":["debug","release"],"items":["#
                        + #"{"suite":"KitTests.WriterTests","name":"keepsOrder()","outcomes":{"debug":null,"release":null},"#
                        + #""says":"not run"}],"next":null}"# + "\n")
            }
        }

        @Test(arguments: [
            ("/api/v1/bots/kit/tests/history", 400), ("/api/v1/bots/kit/tests/history?name=nothing", 404),
            ("/api/v1/bots/other/tests", 404), ("/api/v1/bots/other/tests/flaky", 404),
            ("/api/v1/bots/kit/tests/flaky?integrations=no", 400),
            ("/api/v1/bots/kit/integrations/4/tests?outcome=green", 400),
            ("/api/v1/bots/kit/integrations/4/tests?after=-1", 400),
            ("/api/v1/bots/kit/integrations/9/tests/grid", 404),
            ("/bots/kit/tests/history?name=nothing", 404), ("/bots/kit/tests/history", 404), ("/bots/other/tests", 404),
            ("/bots/kit/9/tests", 404),
        ])
        func testThatWhatIsNotThereIsSaid(_ path: String, _ status: Int) async throws {
            try await outer.withSample { web in
                let answer = try await web.send("GET", path)
                #expect(answer.status == status)
            }
        }
    }

    @Suite struct GivenPages {
        private let outer = TestsThroughTimeTests()

        @Test(arguments: [
            "/bots/kit/4/tests", "/bots/kit/4/tests?failing", "/bots/kit/4/tests?slowest", "/bots/kit/3/tests",
            "/bots/kit/4/tests?query=%22%3E%3Cscript%3E", "/bots/kit/tests",
            "/bots/kit/tests?query=parser", "/bots/kit/tests?query=%22%3E%3Cscript%3E", history,
            history + "&branch=main",
            "/bots/kit/4",
        ])
        func testThatTheyAreWhole(_ path: String) async throws {
            try await outer.withSample { web in
                let answer = try await web.send("GET", path)
                #expect(answer.status == 200)
                for part in ["<!doctype html>", "<main id=\"main\">", "<h1", "</html>"] {
                    expectContains(answer.text, part)
                }
                for word in ["{{", "}}", "Optional(", ">false<", "nil", "style=", "<b>2</b>", "\"><script>"] {
                    #expect(!answer.text.contains(word), "\(path): \(word)")
                }
            }
        }

        @Test(.proves(.testHistory, "The tree of tests × configurations counts what fails in each configuration"))
        func testThatAGridShowsWhatFailsFirst() async throws {
            try await outer.withSample { web in
                let page = try await web.send("GET", "/bots/kit/4/tests").text
                expectContains(page, "<p class=\"lead\">2 tests in 2 configurations, 1 fails, 1 flaky</p>")
                expectContains(page, "<span class=\"only\">release </span>1 fails</span>")
                #expect(!page.contains("<span class=\"only\">debug </span>1 fails"))
                let first = try #require(page.firstRange(of: "keepsOrder()"))
                let second = try #require(page.firstRange(of: "roundTrips()"))
                #expect(first.lowerBound < second.lowerBound)
                expectContains(
                    page, "href=\"/bots/kit/tests/history?name=KitTests.ParserTests%2FkeepsOrder%28%29\"")
                let green = try await web.send("GET", "/bots/kit/3/tests").text
                expectContains(green, "<p class=\"lead\">12 tests in 2 configurations, 1 skipped</p>")
            }
        }

        @Test(.proves(.testHistory, "Per test: history, last failures, durations, on which configurations"))
        func testThatATestsPageShowsStripDurationsAndFailures() async throws {
            try await outer.withSample { web in
                let page = try await web.send("GET", TestsThroughTimeTests.history).text
                expectContains(page, "href=\"/bots/kit/4\" title=\"#4 failed, 24 ms\"")
                expectContains(page, "<polyline points=\"0,24 133,24 266,24 400,2\"/>")
                expectContains(page, "median 12 ms, p95 24 ms")
                expectContains(page, "<pre>&lt;b&gt;2&lt;/b&gt; is not 3</pre>")
                expectContains(page, "<code>Tests/a.swift:7</code>")
                expectContains(page, "release, attempt 1")
                expectContains(page, ">release/1.0</a>")
            }
        }

        @Test(
            .proves(.testHistory, "The flaky tests of a bot, how often of how many, and those that go back and forth"))
        func testThatABotsTestsShowTheFlakyOnes() async throws {
            try await outer.withSample { web in
                let page = try await web.send("GET", "/bots/kit/tests").text
                expectContains(page, "flaky in 1 of 4")
                expectContains(page, "in the last 4 integrations with tests")
                expectContains(try await web.send("GET", "/bots/kit").text, "href=\"/bots/kit/tests\"")
                let integration = try await web.send("GET", "/bots/kit/4").text
                expectContains(integration, "2 tests in 2 configurations, 1 fails, 1 flaky")
                expectContains(integration, "href=\"/bots/kit/4/tests\"")
            }
        }
    }

    @Suite struct GivenTheCommandLine {
        private let outer = TestsThroughTimeTests()

        @Test(.proves(.testHistory, "The grid tests × configurations says \"fails only in release\""))
        func testThatAGridSaysWhere() async throws {
            try await outer.withSample { web in
                let grid = try await martlet(["tests", "kit#4", "--grid"], web)
                #expect(
                    grid.stdout == """
                        TEST                               SUMMARY                debug   release
                        KitTests.ParserTests/keepsOrder()  fails only in release  passed  failed
                        KitTests.ParserTests/roundTrips()  flaky only in debug    flaky   passed

                        """)
                let json = try await martlet(["tests", "kit#4", "--grid", "--json"], web)
                #expect(try await web.json("/api/v1/bots/kit/integrations/4/tests/grid") == json.stdout)
            }
        }

        @Test(.proves(.testHistory, "Per test: history, last failures, durations, on which configurations"))
        func testThatATestsLifeIsPrinted() async throws {
            try await outer.withSample { web in
                let test = try await martlet(["test", "kit", "ParserTests/keeps", "--branch", "main"], web)
                #expect(
                    test.stdout == """
                        KitTests.ParserTests/keepsOrder()

                        debug    passed  as of kit#4  median 12 ms, p95 24 ms
                        release  failed  as of kit#4  median 12 ms, p95 24 ms

                        kit#4  main  33333333  debug    passed  24 ms
                        kit#4  main  33333333  release  failed  24 ms  <b>2</b> is not 3
                        kit#2  main  22222222  debug    passed  12 ms
                        kit#2  main  22222222  release  passed  12 ms
                        kit#1  main  11111111  debug    passed  12 ms
                        kit#1  main  11111111  release  passed  12 ms

                        last failures
                        kit#4  release, attempt 1  failed  Tests/a.swift:7  <b>2</b> is not 3

                        """, "\(test.stderr)")
                let several = try await martlet(["test", "kit", "keepsOrder"], web)
                #expect(several.status == 64)
                expectContains(several.stderr, "KitTests.PathTests/keepsOrder()")
                let nothing = try await martlet(["test", "kit", "nothing"], web)
                #expect(nothing.status == 66)
            }
        }

        @Test(
            .proves(.testHistory, "The flaky tests of a bot, how often of how many, and those that go back and forth"))
        func testThatFlakyTestsAreListed() async throws {
            try await outer.withSample { web in
                let flaky = try await martlet(["flaky", "kit"], web)
                #expect(
                    flaky.stdout == """
                        FLAKY            CHANGES          TEST                               CONFIGURATIONS  LATEST
                        flaky in 1 of 4  changed 0 times  KitTests.ParserTests/roundTrips()  debug           kit#4

                        """)
                let none = try await martlet(["flaky", "kit", "--branch", "release/1.0"], web)
                #expect(none.stdout == "No test was flaky in 1 integration.\n")
            }
        }
    }
}
