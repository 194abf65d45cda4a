import API
import Basics
import JobProtocol
import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// A log of 300,000 lines in two steps, with one line of an error.
private struct LongLog {
    static let lines = 300_000
    static let errorLine = 123_456
    let web: WebFixture

    /// Writes the log, and the index as a supervisor does: a record for each 64 KiB.
    func write(hasIndex: Bool = true) throws {
        var (log, index) = ([UInt8](), [UInt8]())
        var (size, record) = (0, -1)
        log.reserveCapacity(Self.lines * 32)
        for number in 1...Self.lines {
            let step = number <= 200_000 ? 0 : 1
            if record < 0 || size - record > 60_000 || number == 200_001 {
                index += LogIndexRecord(
                    offset: UInt64(size), millisecondsSinceEpoch: 1_772_366_400_000 + UInt64(number),
                    firstLine: UInt32(number),
                    step: UInt16(step), flags: []
                ).bytes()
                record = size
            }
            log +=
                number == Self.errorLine
                ? "Sources/Kit/A.swift:7:9: error: \u{1B}[1mno such thing\u{1B}[0m\n".utf8
                : "line \(number) of the log\n".utf8
            size = log.count
        }
        try web.directory.write("state/integrations/kit/1/debug/1/log", log)
        try web.directory.write("state/integrations/kit/1/debug/1/log.index", hasIndex ? index : [])
    }
}

@Suite struct LogPageTests {
    static let page = "/bots/kit/1/log/debug"

    private func withLongLog(
        hasIndex: Bool = true, _ body: @Sendable (WebFixture) async throws -> Void
    ) async throws {
        try await withWeb { web in
            try await SampleContent(web: web).fill()
            try LongLog(web: web).write(hasIndex: hasIndex)
            try await body(web)
        }
    }

    @Test(.proves(.web, "`#LN` and `?line=N` show a line of a log of 300,000 lines"), arguments: [true, false])
    func testThatALineIsShownByItsNumber(hasIndex: Bool) async throws {
        try await withLongLog(hasIndex: hasIndex) { web in
            for line in [1, 2, 41, 3_333, 199_999, 200_001, 299_999, 300_000] {
                // when
                let page = try await web.send("GET", Self.page + "?line=\(line)").text
                // then
                expectContains(
                    page,
                    "<span id=\"L\(line)\" class=\"at\"><a href=\"#L\(line)\" tabindex=\"-1\">\(line)</a>line \(line) of the log</span>"
                )
                // Line 200,001 begins a step, and the page also shows the end of the step before it.
                #expect(page.matches(of: /<span id="L\d+" class="[^"]*at"/).count == 1)
                #expect(page.utf8.count < 400_000)
            }
            let beyond = try await web.send("GET", Self.page + "?line=300001").text
            expectContains(beyond, "id=\"L300000\"")
        }
    }

    @Test func testThatPagesFollowEachOther() async throws {
        try await withLongLog { web in
            // given
            var (path, line, pages) = (Self.page + "?from=0", 1, 0)
            // when: a person reads on
            while pages < 5 {
                let page = try await web.send("GET", path).text
                let numbers = page.matches(of: /<span id="L(\d+)"/).compactMap { Int($0.1) }
                #expect(numbers == Array(line..<line + numbers.count))
                #expect(numbers.count <= LogWindow.maximumLines)
                line += numbers.count
                pages += 1
                let later = try #require(page.firstMatch(of: /href="([^"]+)">Later</)?.1)
                path = String(later).replacing("&amp;", with: "&")
            }
            // then
            #expect(line > 5 * 1900)
        }
    }

    @Test(.proves(.web, "First error, next and previous error of a log"))
    func testThatErrorsThatWereReadAreFoundAndMarked() async throws {
        try await withLongLog { web in
            // given
            let id = AttemptID(
                integration: IntegrationID(bot: SampleContent.kit, number: 1), job: SampleContent.debug, attempt: 2)
            _ = try await web.store.addAttempt(to: id.integration, job: id.job, at: WebFixture.now)
            try await web.store.apply(.entered(.building), to: id, at: WebFixture.now)
            var results = AttemptResults(analysis: "clean", tested: "nothing", verdict: .buildErrors)
            results.logPlaces = [(40, Finding.Category.warning), (50, .error), (90_000, .testFailure)].map {
                line, category in
                LogPlace(key: .init(subject: "<svg/onload=1>\"", path: nil, line: nil), category: category, line: line)
            }
            try await web.store.storeResults(results, of: id, at: WebFixture.now)
            try web.directory.write("state/integrations/kit/1/debug/2/log", String(repeating: "line\n", count: 100_000))
            // when
            func line(_ query: String) async throws -> String? {
                let answer = try await web.send("GET", Self.page + "?attempt=2&find=\(query)")
                return answer["Location"].map { String($0.drop { $0 != "?" }) }
            }
            // then
            #expect(try await line("first") == "?attempt=2&line=50#L50")
            #expect(try await line("next&line=50") == "?attempt=2&line=90000#L90000")
            #expect(try await line("previous&line=90000") == "?attempt=2&line=50#L50")
            #expect(try await line("previous&line=50") == nil)
            let page = try await web.send("GET", Self.page + "?attempt=2&line=50").text
            expectContains(page, "<span id=\"L50\" class=\"m bad at\">")
            expectContains(page, "<span id=\"L40\" class=\"m warn\">")
            expectContains(page, "<b title=\"error: &lt;svg/onload=1&gt;&quot;\">")
            #expect(!page.contains("<svg/onload"))
        }
    }

    @Test(.proves(.web, "First error, next and previous error of a log"))
    func testThatLinesThatLookLikeErrorsAreFoundOtherwise() async throws {
        try await withLongLog { web in
            let wanted = "line=\(LongLog.errorLine)#L\(LongLog.errorLine)"
            for query in ["first", "next&line=5", "previous&line=250000"] {
                let answer = try await web.send("GET", Self.page + "?find=\(query)")
                #expect(answer.status == 302)
                #expect(answer["Location"]?.hasSuffix(wanted) == true, "\(query)")
            }
            for query in ["next&line=\(LongLog.errorLine)", "previous&line=\(LongLog.errorLine)"] {
                expectContains(
                    try await web.send("GET", Self.page + "?find=\(query)").text, "No line looks like an error.")
            }
        }
    }

    @Test(.proves(.web, "A log is searched as a whole, by JSON and on its page"))
    func testThatTheWholeLogIsSearched() async throws {
        try await withLongLog { web in
            // when: case, and a sequence within the text, do not matter
            let found = try await web.json("/api/v1/bots/kit/integrations/1/log/debug/search?q=Error:%20NO%20such")
            let many = try await web.json("/api/v1/bots/kit/integrations/1/log/debug/search?q=line%20")
            let rest = try await web.json("/api/v1/bots/kit/integrations/1/log/debug/search?q=line%20&after=299950")
            let page = try await web.send("GET", Self.page + "?q=no+such+thing").text
            // then
            expectContains(
                found,
                #"{"items":[{"line":123456,"text":"Sources/Kit/A.swift:7:9: error: no such thing"}],"next":null}"#)
            expectContains(many, #"{"line":100,"text":"line 100 of the log"}],"next":"101"}"#)
            expectContains(rest, #"{"line":300000,"text":"line 300000 of the log"}],"next":null}"#)
            expectContains(page, "1 line with “no such thing”")
            expectContains(page, "?attempt=1&amp;q=no%20such%20thing&amp;line=123456#L123456\">123456</a>")
        }
    }

    @Test func testThatSearchesAreBounded() async throws {
        try await withLongLog { web in
            let path = "/api/v1/bots/kit/integrations/1/log/debug/search"
            try await web.expect(400, "GET", path)
            try await web.expect(400, "GET", path + "?q=" + String(repeating: "x", count: 201))
            try await web.expect(400, "GET", path + "?q=x&after=0")
            try await web.expect(400, "GET", Self.page + "?q=" + String(repeating: "x", count: 201))
            try await web.expect(404, "GET", path + "?q=x&attempt=9")
            #expect(try await web.json(path + "?q=x&after=400000") == "{\"items\":[],\"next\":null}\n")
        }
    }

    @Test(.proves(.web, "A switch shows when each line of a log was printed"))
    func testThatTimesAreShownOnDemand() async throws {
        try await withLongLog { web in
            let page = try await web.send("GET", Self.page + "?from=0").text
            let timed = try await web.send("GET", Self.page + "?from=0&times").text
            #expect(!page.contains("<time>"))
            expectContains(page, "&amp;times&amp;from=0\">Times</a>")
            expectContains(timed, "<a href=\"#L1\" tabindex=\"-1\">1</a><time>12:00:00</time>line 1 of the log")
            expectContains(timed, "aria-current=\"true\">Times</a>")
        }
    }

    @Test(.proves(.web, "Steps of a log fold, and their headings say how each ended"))
    func testThatStepsFold() async throws {
        try await withWeb { web in
            try await SampleContent(web: web).fill()
            let page = try await web.send("GET", Self.page).text
            expectContains(
                page,
                "<details class=\"step\" id=\"s1\" open><summary><span class=\"name\">building · swift build --build-tests</span>"
                    + " <span class=\"end\">11 s</span></summary><pre><span id=\"L2\">")
            expectContains(page, "<span class=\"end bad\">exit 1, 2.1 s</span>")
            expectContains(page, "?attempt=1&amp;step=2#s2\">swift test --skip-build</a>")
        }
    }

    @Test func testThatX3APageOfEmptyLinesIsBounded() async throws {
        try await withLongLog { web in
            try web.directory.write("state/integrations/kit/1/debug/1/log", String(repeating: "\n", count: 1_000_000))
            try web.directory.write("state/integrations/kit/1/debug/1/log.index", "")
            for query in ["", "?from=0", "?line=500000"] {
                let page = try await web.send("GET", Self.page + query).text
                #expect(page.matches(of: /<span id="L/).count == LogWindow.maximumLines, "\(query)")
            }
        }
    }
}

/// The page of a job that runs.
@Suite struct LiveLogPageTests {
    @Test(.proves(.web, "The page of a running job follows live; step headings appear as steps begin"))
    func testThatTheNewestLinesComeWithThoseThatTheyMayRewrite() async throws {
        try await withWeb { web in
            // given
            let job = try await LogEventsTests.Running(web)
            job.print((1...500).map { "line \($0)\n" }.joined())
            let page = try await web.send("GET", "/bots/kit/1/log/debug").text
            expectContains(page, "data-first=\"1\" data-log=\"kit/1/debug/1\" data-end>")
            // when
            job.print("\u{1B}[1A\u{1B}[2Krewritten\nline 501\n")
            let rest = try await web.send("GET", "/bots/kit/1/log/debug?attempt=1&since=400").text
            // then
            let numbers = rest.matches(of: /<span id="L(\d+)"/).compactMap { Int($0.1) }
            #expect(numbers == Array(400...500) + [502])
            expectContains(rest, "500</a>rewritten</span>")
            expectContains(rest, "data-first=\"400\"")
        }
    }

    @Test(.proves(.web, "The page of a running job follows live; step headings appear as steps begin"))
    func testThatAStepThatHasNotPrintedHasAHeading() async throws {
        try await withWeb { web in
            // given
            let job = try await LogEventsTests.Running(web)
            try await web.store.record(
                step: StepRecord(
                    index: 0, step: .building, name: "make <all>", startedAt: WebFixture.now + .seconds(-3)),
                of: job.id)
            // when
            let page = try await web.send("GET", "/bots/kit/1/log/debug").text
            // then
            expectContains(
                page,
                "building · make &lt;all&gt;</span> <span class=\"end busy\">running, 3.0 s</span></summary><pre></pre>"
            )
        }
    }

    @Test func testThatAJobThatHasNotPrintedHasAPage() async throws {
        try await withWeb { web in
            // given
            let job = try await LogEventsTests.Running(web)
            _ = try await web.store.addAttempt(to: job.id.integration, job: SampleContent.release, at: WebFixture.now)
            // when
            let page = try await web.send("GET", "/bots/kit/1/log/release").text
            // then
            expectContains(page, "data-log=\"kit/1/release/1\"")
        }
    }

    @Test(.proves(.web, "The page of a running integration shows the last lines, the tests so far and the time left"))
    func testThatARunningIntegrationShowsWhatItDoes() async throws {
        try await withWeb { web in
            // given
            let job = try await LogEventsTests.Running(web)
            try await web.store.record(
                step: StepRecord(index: 0, step: .testing, name: "swift test", startedAt: WebFixture.now), of: job.id)
            job.print("Test Case 'KitTests.testA' passed (0.1 seconds)\n")
            job.print((1...20).map { "<b>line \($0)\n" }.joined() + "Test Case 'KitTests.testB' failed (0.1 seconds)\n")
            let record = LogIndexRecord(offset: 0, millisecondsSinceEpoch: 0, firstLine: 1, step: 0, flags: [])
            try web.directory.write("state/integrations/kit/1/debug/1/log.index", record.bytes())
            // when
            let page = try await web.send("GET", "/bots/kit/1").text
            // then
            expectContains(page, "testing · swift test · 2 tests so far, 1 failed</p>")
            expectContains(page, "<span>&lt;b&gt;line 20</span>")
            #expect(!page.contains("line 13<"))
            expectContains(page, "/bots/kit/1/log/debug?attempt=1\">Follow the log</a>")
        }
    }

    @Test(
        .proves(.web, "The page of a running integration shows the last lines, the tests so far and the time left"),
        arguments: [
            (10, "about 30 s left, by the branch&#39;s last 2 integrations"), (100, "for 1 min 40 s; usually 40 s"),
        ])
    func testThatARunningIntegrationShowsTheTimeThatIsLeft(seconds: Int64, expected: String) async throws {
        try await withWeb { web in
            // given: the branch's integrations took 40 s
            try await SampleContent(web: web).fill()
            let new = NewIntegration(
                bot: SampleContent.kit, ref: RefName(branch: "main"), commit: SampleContent.commits[2], cause: .push)
            let id = try await web.store.queue(new, at: WebFixture.now + .seconds(-seconds)).id
            _ = try await web.store.apply(.started, to: id, at: WebFixture.now + .seconds(-seconds))
            // then
            expectContains(try await web.send("GET", "/bots/kit/\(id.number)").text, expected)
        }
    }

    /// Scripts and style sheets are those that the page had when it was opened; a refresh changes only what it shows.
    @Test func testThatAQueuedIntegrationsPageHasWhatItsResultsNeed() async throws {
        try await withWeb { web in
            // given
            try await web.store.register(
                [BotSpecification(name: SampleContent.kit, repository: SampleContent.repository)], at: WebFixture.now)
            let new = NewIntegration(
                bot: SampleContent.kit, ref: RefName(branch: "main"), commit: SampleContent.commits[0], cause: .push)
            _ = try await web.store.queue(new, at: WebFixture.now)
            // when
            let page = try await web.send("GET", "/bots/kit/1").text
            // then
            expectContains(page, "<script src=\"/tests.js?")
            expectContains(page, "/terminal.css?")
        }
    }

    @Test(arguments: [
        ("Test Case 'A.b' passed (0.001 seconds)", 1, 0), ("✔ Test \"x\" passed after 0.1 seconds.", 1, 0),
        ("✘ Test x() failed after 0.1 seconds with 1 issue.", 0, 1),
        ("✔ Test run with 3 tests passed after 1 seconds.", 0, 0),
        ("--- PASS: TestA (0.00s)", 1, 0), ("    --- FAIL: TestA/b (0.00s)", 0, 1), ("test a::b ... ok", 1, 0),
        ("test a::b ... FAILED", 0, 1), ("tests/test_a.py::test_b PASSED [ 50%]", 1, 0),
        ("tests/test_a.py::test_b FAILED [ 50%]", 0, 1),
        ("1/2 Test #1: a ............   Passed    0.01 sec", 1, 0),
        ("2/2 Test #2: b ............***Failed  0.01 sec", 0, 1),
        ("ok 1 - counts", 1, 0), ("not ok 2 - wraps", 0, 1), ("ok then", 0, 0), ("Compiling A.swift", 0, 0), ("", 0, 0),
    ])
    func testThatTestsAreCountedByTheLinesOfTools(line: String, passed: Int, failed: Int) {
        // given
        var tests = TestsSoFar()
        // when
        tests.add(Array(line.utf8)[...])
        // then
        #expect(tests.passed == passed && tests.failed == failed)
    }
}

/// Links from the page of an integration to the lines of its logs.
@Suite struct LogLinksTests {
    @Test(.proves(.reports, "Findings and failing tests link to their line of the log, which marks them"))
    func testThatIssuesAndFailingTestsLinkToTheirLines() async throws {
        try await withWeb { web in
            // given
            let (job, test) = (try await LogEventsTests.Running(web), "KitTests.ParserTests/parses()")
            let warning = Finding(category: .warning, message: "unused 'x'", path: "Sources/a.swift", line: 7)
            let failure = Finding(category: .testFailure, message: "1 is not 2", rule: test)
            var results = AttemptResults(analysis: "clean", tested: "1 test", verdict: .testFailures)
            results.tests = [TestResult(suite: "KitTests.ParserTests", name: "parses()", outcome: .failed)]
            results.logPlaces = [
                LogPlace(key: .init(warning), category: .warning, line: 3),
                LogPlace(key: .init(failure), category: .testFailure, line: 512),
            ]
            try await web.store.storeResults(results, of: job.id, at: WebFixture.now)
            let issues = [warning, failure].enumerated().map { index, finding in
                Model.Issue(
                    fingerprint: String(repeating: "\(index)", count: 64), status: .new, finding: finding, age: 1,
                    configurations: [SampleContent.debug])
            }
            try await web.store.completeIssues(
                of: job.id.integration, issues: issues, summary: Summary(), at: WebFixture.now)
            // when
            let page = try await web.send("GET", "/bots/kit/1").text
            // then
            let links = page.matches(of: /href="(\/bots\/kit\/1\/log\/debug[^"]*#[^"]*)"/).map { String($0.1) }
            let path = "/bots/kit/1/log/debug?attempt=1&amp;line="
            #expect(links.sorted() == [path + "3#L3", path + "512#L512"])
        }
    }
}
