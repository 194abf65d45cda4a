import Model
import TestSupport
import Testing

@testable import Reports

/// The messages between the daemon and `martlet-reader`.
@Suite struct ReadingSessionTests {
    private static let root = SourceRoot(mountedAt: "/home/me/pkg", others: ["/kit"])

    private struct Step {
        var subject: StepSubject = []
        var reports: [(name: String, text: String)] = []
        var console = ""
    }

    /// Returns a reader's answer to these steps.
    private static func answer(_ steps: [Step]) throws -> [UInt8] {
        var requests = ReadingRequest.root(root)
        for (number, step) in steps.enumerated() {
            requests += ReadingRequest.step(number, step.subject)
            for report in step.reports {
                let bytes = Array(report.text.utf8)
                requests += ReadingRequest.report(report.name, size: bytes.count)
                for start in stride(from: 0, to: bytes.count, by: 7) {
                    requests += ReadingRequest.bytes(Array(bytes[start..<min(bytes.count, start + 7)]))
                }
            }
            let console = Array(step.console.utf8)
            for start in stride(from: 0, to: console.count, by: 5) {
                requests += ReadingRequest.console(Array(console[start..<min(console.count, start + 5)]))
            }
            requests += ReadingRequest.stepEnd
        }
        return try answer(to: requests + ReadingRequest.end)
    }

    private static func answer(to requests: [UInt8], isFiltered: Bool = true) throws -> [UInt8] {
        var (session, rest, answer) = (ReadingSession(isFiltered: isFiltered), requests[...], [UInt8]())
        while !rest.isEmpty {
            let head = try ReadingRequest.head(Array(rest.prefix(ReadingRequest.headBytes)))
            rest = rest.dropFirst(ReadingRequest.headBytes)
            answer += try session.consume(head.kind, Array(rest.prefix(head.count)))
            rest = rest.dropFirst(head.count)
        }
        #expect(session.isOver)
        return answer
    }

    /// - Parameter asked: The requests, as in a `ReadingAnswer`; by default those of `samples`.
    private static func read(
        _ bytes: [UInt8], pieces: Int = .max, asked: [Int: Int]? = nil
    ) throws -> ReadingAnswer {
        let samples = Dictionary(uniqueKeysWithValues: samples.enumerated().map { ($0, $1.reports.count) })
        var (answer, rest) = (ReadingAnswer(asked: asked ?? samples), bytes[...])
        while !rest.isEmpty {
            try rest.prefix(pieces).withUnsafeBytes { (piece) throws in try answer.consume(piece) }
            rest = rest.dropFirst(pieces)
        }
        return answer
    }

    private static let junit = """
        <testsuite name="Kit"><testcase name="a" time="0.25"/><testcase name="b" file="/kit/b.c" line="3">
        <failure message="no"/></testcase></testsuite>
        """
    private static let samples = [
        Step(subject: [.lines, .testList], console: "KitTests.A/a\nKitTests.A/b\n"),
        Step(subject: .build, console: "[1/2] Compiling Kit A.swift\n/kit/a.c:3:1: warning: odd [-Wodd]\n"),
        Step(
            subject: .tests, reports: [("a.xml", junit), ("b.xml", "<testsuite"), ("c.info", "SF:/kit/a.c\nDA:1,1\n")],
            console: "ok\n"),
        Step(
            subject: .tests,
            console: "--- FAIL: TestA (0.00s)\n    a_test.go:3: no\nFAIL\nFAIL\tkit/a\t0.1s\n"),
        Step(),
    ]

    @Test func testThatTheDaemonHearsWhatTheReaderRead() throws {
        // given, when
        let answer = try Self.read(try Self.answer(Self.samples))

        // then
        #expect(answer.isWhole)
        #expect(answer.begun == .init(step: 3, item: 0))
        let build = try #require(answer.steps[1]?.console)
        #expect(
            build.findings == [
                Finding(category: .warning, message: "odd", rule: "-Wodd", path: "a.c", line: 3, column: 1)
            ])
        #expect(build.compiled.contains("Sources/Kit/A.swift"))
        #expect(answer.steps[0]?.console.listed == ["KitTests.A/a", "KitTests.A/b"])
        let tests = try #require(answer.steps[2])
        let direct = Self.samples[2].reports.map {
            ReportReader.read(Array($0.text.utf8), fileName: $0.name, root: Self.root)
        }
        #expect(tests.reports == direct)
        #expect(answer.steps[3]?.console.others.flatMap(\.tests).first?.outcome == .failed)
        #expect(answer.steps[4]?.reports.isEmpty == true)
    }

    @Test(arguments: [1, 2, 3, 100]) func testThatAnAnswerMayBeCutAnywhere(pieces: Int) throws {
        let bytes = try Self.answer(Self.samples)
        let (whole, cut) = (try Self.read(bytes), try Self.read(bytes, pieces: pieces))
        #expect(cut.isWhole)
        #expect(cut.steps[2]?.reports == whole.steps[2]?.reports)
    }

    @Test func testThatAnAnswerThatBreaksOffIsNotWhole() throws {
        let bytes = try Self.answer(Self.samples)
        for count in 0..<bytes.count {
            #expect(try !Self.read(Array(bytes.prefix(count))).isWhole)
        }
    }

    /// The input may have taken over the reader.
    @Test(.proves(.reports, "The reader has no file, network, environment or secret, and its answer is not trusted"))
    func testThatNoAnswerTrapsTheDaemon() throws {
        // given
        let good = try Self.answer(Self.samples)
        var mutator = Mutator(state: 40)
        var refused = 0

        // when, then: the answer is refused, or it is within the limits
        for _ in 0..<4000 {
            do {
                let answer = try Self.read(mutator.mutated(good, other: good))
                for content in answer.steps.values {
                    let lines = content.reports.flatMap(\.tests).compactMap(\.line)
                    #expect(lines.allSatisfy { (1..<1_000_000_000).contains($0) })
                }
            } catch is WireError {
                refused += 1
            }
        }
        #expect(refused > 0)
    }

    @Test func testThatAListIsNeverLongerThanItsBytes() throws {
        // given: a step of one report that claims 2^40 findings
        var record: [UInt8] = [0, 1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20]
        record = [2, UInt8(record.count), 0, 0, 0] + record

        // when, then
        #expect(throws: WireError.self) { try Self.read(record, asked: [0: 1]) }
    }

    /// Returns the bytes of a report with a number of problems, each of one byte.
    private static func report(problems: Int) -> [UInt8] {
        var writer = WireWriter()
        writer.add(ReportContent(problems: Array(repeating: "no", count: problems)))
        return writer.bytes
    }

    private static let emptyConsole: [UInt8] = {
        var writer = WireWriter()
        writer.add(ConsoleContent())
        return writer.bytes
    }()

    @Test func testThatAllListsOfAnAnswerHaveOneLimit() throws {
        // given: three reports, each within the limit of one list
        let report = Self.report(problems: WireReader.maximumElements)
        let bytes = ReadingAnswer.step(0, reports: 1, report + Self.emptyConsole)
        let more = ReadingAnswer.step(1, reports: 2, report + report + Self.emptyConsole)

        // when, then
        #expect(try Self.read(bytes, asked: [0: 1, 1: 2]).steps[0]?.reports[0].problems.count == 1_000_000)
        let error = #expect(throws: WireError.self) { try Self.read(bytes + more, asked: [0: 1, 1: 2]) }
        #expect(error?.description == "the lists have too many elements together")
    }

    @Test(arguments: [
        ([7], "step 7, which was not asked for"), ([0, 0], "step 0, which was not asked for"),
        ([1], "2 reports of a step that has 1"),
    ])
    func testThatWhatWasNotAskedForIsRefused(steps: [Int], reason: String) throws {
        // given: two reports of each step
        let content = Self.report(problems: 1) + Self.report(problems: 0) + Self.emptyConsole
        let bytes = steps.flatMap { ReadingAnswer.step($0, reports: 2, content) }

        // when, then
        let error = #expect(throws: WireError.self) { try Self.read(bytes, asked: [0: 2, 1: 1]) }
        #expect(error?.description == reason)
    }

    @Test func testThatMoreLinesThanTheDaemonTakesAreSaidToBeTooMany() throws {
        // given
        let lines = Array(String(repeating: "a\n", count: WireReader.maximumElements + 1).utf8)
        var requests = ReadingRequest.root(Self.root) + ReadingRequest.step(0, [.lines])
        for start in stride(from: 0, to: lines.count, by: ReadingRequest.pieceBytes) {
            let end = min(lines.count, start + ReadingRequest.pieceBytes)
            requests += ReadingRequest.console(Array(lines[start..<end]))
        }
        requests += ReadingRequest.stepEnd + ReadingRequest.end

        // when
        let answer = try Self.read(try Self.answer(to: requests), asked: [0: 0])

        // then
        #expect(
            answer.steps[0]?.console.problems == [
                "the output could not be read: it has more than 1000000 tests, findings, lines and files"
            ])
    }

    @Test(arguments: [true, false]) func testThatTheDaemonHearsWhetherTheReaderHasAFilter(isFiltered: Bool) throws {
        // given
        let requests = ReadingRequest.root(Self.root) + ReadingRequest.end

        // when
        let answer = try Self.read(try Self.answer(to: requests, isFiltered: isFiltered))

        // then
        #expect(answer.isFiltered == isFiltered)
        #expect(answer.isWhole)
    }

    @Test func testThatAReaderOfAnotherVersionIsRefused() throws {
        var session = ReadingSession()
        let error = #expect(throws: WireError.self) { _ = try session.consume(1, [99, 0]) }
        expectContains("\(String(describing: error))", "install both programs of one version")
    }

    @Test(.proves(.reports, "The reader has no file, network, environment or secret, and its answer is not trusted"))
    func testThatTextsThatGrowBeyondTheLimitAreRefused() throws {
        // given: each of 20,000 results refers to a text of 16 KiB
        let text = String(repeating: "a", count: 16_000)
        let results = repeatElement(#"{"message":{"id":"m"},"ruleId":"R"}"#, count: 20_000).enumerated().map {
            $1.replacing("\"m\"", with: "\"m\",\"arguments\":[\"\($0)\"]")
        }
        let sarif = """
            {"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t","rules":[{"id":"R","messageStrings":{"m":{"text":"{0}\(text)"}}}]}},
            "results":[\(results.joined(separator: ","))]}]}
            """

        // when
        let answer = try Self.read(try Self.answer([Step(subject: [], reports: [("a.sarif", sarif)])]), asked: [0: 1])

        // then
        #expect(
            answer.steps[0]?.reports.first?.problems == [
                "report unreadable: a.sarif: its tests and findings have more than 64 MiB of text"
            ])
    }
}
