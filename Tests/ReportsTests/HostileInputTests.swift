import Issues
import Model
import TestSupport
import Testing

@testable import Reports

/// No reader may trap on any bytes, or need more than linear time.
@Suite struct HostileInputTests {
    /// A reader, and an input that it accepts.
    struct Reader: Sendable, CustomTestStringConvertible {
        var name: String
        var seeds: [String]
        /// The number of mutations in this suite. The program `FuzzReports` tries any number.
        var rounds = 2000
        var read: @Sendable ([UInt8]) -> Int
        var testDescription: String { name }
    }

    private static let root = SourceRoot(mountedAt: "/home/me/pkg")

    private static func report(_ name: String, _ seeds: String...) -> Reader {
        Reader(name: name, seeds: seeds, rounds: 300) { bytes in
            let content = ReportReader.read(bytes, fileName: "a", root: root)
            return content.tests.count + content.findings.count + (content.coverage?.files.count ?? 0)
        }
    }

    static let readers = [
        Reader(name: "diagnostics", seeds: ["build-errors.txt", "test-xctest-crash.txt"]) { bytes in
            DiagnosticReader.findings(in: bytes, root: root).count
        },
        Reader(name: "compiled files", seeds: ["build-errors.txt"]) { bytes in
            CompiledFiles(log: bytes).contains("Sources/Tiny/T.swift") ? 1 : 0
        },
        Reader(name: "XCTest's console", seeds: ["test-parallel.txt", "test-xctest-crash.txt"]) { bytes in
            XCTestConsoleReader.tests(in: bytes, root: root, listed: ["ATests.XTests/testB"]).count
        },
        Reader(name: "Swift Testing's console", seeds: ["test-parallel.txt"]) { bytes in
            SwiftTestingConsoleReader.tests(in: bytes, root: root).count
        },
        Reader(name: "event stream", seeds: ["events-6.3-empty.jsonl", "events-6.3-crash.jsonl"]) { bytes in
            EventStreamReader.read(bytes, root: root).tests.count
        },
        Reader(name: "JUnit", seeds: ["xunit-swift-testing.xml", "xunit-parallel-crash.xml"]) { bytes in
            JUnitReader.read(bytes, root: root).tests.count
        },
        Reader(name: "SARIF", seeds: ["results.sarif"]) { bytes in SARIFReader.read(bytes, root: root).findings.count },
        Reader(name: "any report", seeds: ["xunit-swift-testing.xml", "results.sarif", "events-6.3-empty.jsonl"]) {
            bytes in
            let content = ReportReader.read(bytes, fileName: "a", root: root)
            let merged = TestMerge.merge([content.tests, content.tests], end: CommandEnd(exit: 1, console: bytes))
            return merged.count + Fingerprinter.keys(of: content.findings) { _, _ in nil }.count
        },
        report("go test", "go.txt", "go-verbose.txt", "go.jsonl"),
        report("cargo", "cargo.txt", "cargo.jsonl", "clippy.jsonl"),
        report("ctest", "ctest.txt", "ctest-Test.xml", "ctest-junit.xml"),
        report("XML of linters", "cppcheck.xml", "shellcheck.checkstyle.xml"),
        report("JSON of linters", "shellcheck.json", "ruff.json", "ruff.jsonl", "ruff-gitlab.json"),
        report("lines of linters", "cppcheck.txt", "ruff-full.txt", "ruff-concise.txt", "shellcheck-gcc.txt"),
        report("serialized diagnostics", "swift.dia", "clang.dia"),
        report("coverage", "cobertura.xml", "coverage.lcov"),
        report(
            "sanitizers", "sanitizer-asan.txt", "sanitizer-leak.txt", "sanitizer-tsan.txt", "sanitizer-ub-stack.txt"),
        report("TAP", "tap.txt"), report(".NET", "nunit3.xml", "xunit-net.xml", "results.trx"),
        // Both are outputs of the tools. bandit's counts issues that are "skipped" and "disabled".
        report("analyzers", "analyzers.txt"), report("summaries", "summaries.txt"),
        Reader(
            name: "a test step's console", seeds: ["go-verbose.txt", "ctest.txt", "tap.txt", "summaries.txt"],
            rounds: 300
        ) { bytes in
            var consoles = ConsoleReading(.tests, root: root, listed: [], hasEvents: false)
            bytes.withUnsafeBytes { consoles.consume($0) }
            return consoles.finish().others.flatMap(\.tests).count
        },
        Reader(name: "an analysis's console", seeds: ["analyzers.txt", "cppcheck.txt"], rounds: 300) { bytes in
            var console = ConsoleReading(.analysis, root: root, listed: [], hasEvents: false)
            bytes.withUnsafeBytes { console.consume($0) }
            return console.finish().findings.count
        },
        Reader(name: "lock files", seeds: LockFile.names.sorted().map { "Locks/" + $0 + ".sample" }, rounds: 300) {
            bytes in
            LockFile.names.reduce(0) { $0 + LockFile.pins(in: bytes, called: $1).packages.count }
        },
    ]

    @Test(.proves(.reports, "No input stops a reader or costs more than linear time"), arguments: readers)
    func testThatMutationsDoNotTrap(reader: Reader) throws {
        let seeds = try reader.seeds.map { Array(try Samples.bytes($0).prefix(12_000)) }
        var mutator = Mutator(state: 2026)
        var total = 0
        for round in 0..<reader.rounds {
            let count = reader.read(
                mutator.mutated(seeds[round % seeds.count], other: seeds[(round + 1) % seeds.count]))
            #expect(count < 1000)
            total += count
        }
        #expect(total > 0, "the mutations must leave something to read")
    }

    @Test(arguments: readers)
    func testThatRandomBytesDoNotTrap(reader: Reader) {
        var generator = Mutator(state: 7)
        for _ in 0..<300 {
            let count = Int.random(in: 0...300, using: &generator)
            #expect(reader.read((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }) < 300)
        }
    }

    @Test(.corpus, arguments: readers)
    func testThatEveryFileOfTheCorpusIsSurvived(reader: Reader) throws {
        for file in ["logs", "samples", "tap", "xml-attacks", "semver"].flatMap({ Corpus.files($0) }) {
            #expect(reader.read(try file.bytes()) < 10_000, "\(file.name)")
        }
    }

    private static func seconds(_ body: () -> Void) -> Double {
        let start = threadSeconds()
        body()
        return threadSeconds() - start
    }

    private static let units = [
        "\u{1B}[", "[", "a: ", "\r", ".c:1:", "Test Case '", "✘ Test ", "error: ", " at /", "<", "&#", "[{", "%",
    ]

    private static func repeated(_ unit: String, bytes: Int) -> [UInt8] {
        Array(repeatElement(Array(unit.utf8), count: bytes / unit.utf8.count).joined())
    }

    /// Expects four times the input to take at most eight times as long, above a minimum for measuring.
    private static func expectLinearTime(_ reader: Reader, _ unit: String) {
        let (small, large) = (repeated(unit, bytes: 8 * 1024), repeated(unit, bytes: 32 * 1024))
        let first = seconds { _ = reader.read(small) }
        let second = seconds { _ = reader.read(large) }
        #expect(second < max(first * 8, 0.1 * TestLimits.scale), "\(unit): \(first) s, four times that \(second) s")
    }

    @Test(.threat("P6"), arguments: readers)
    func testThatLongLinesTakeLinearTime(reader: Reader) {
        for unit in Self.units { Self.expectLinearTime(reader, unit) }
    }

    /// Lines of 1 MB in a log. In an optimized build each takes less than 1 ms.
    @Test(.threat("P6"), arguments: readers.prefix(4), ["(", "a", ":"])
    func testThatALineOfAMegabyteIsRead(reader: Reader, unit: String) {
        let line = Self.repeated(unit, bytes: 1 << 20)
        let time = Self.seconds { #expect(reader.read(line) == 0) }
        #expect(time < 5 * TestLimits.scale)
    }

    /// Many short lines, each of which looks like a result.
    @Test(
        .proves(.reports, "No input stops a reader or costs more than linear time"),
        arguments: readers,
        [
            "a.c:1:2: error: m\n", "a.c:1:2: warning: ", "Test Case 'A.b' started at x\n", "◇ Test a() started.\n",
            "x.c:3: error: A.b : m\n", "<testcase name='a'>", "{\"kind\":\"event\",\"version\":0}\n",
            "  ---\n    message: a text that is longer\n    ok 1 - a point\n", "1..1\nok 1 - a\n  ---\n    not ok 1\n",
            "=== RUN   TestA\n", "# kit\na.go:1:2: m\n",
            "FAIL: test_a (kit.cases)\n", "In a.sh line 2:\n     ^-- SC1 (info): m\n", "t/parser.t ......... ok\n",
            "      Start 10: parser\n", "Run options: x\n# Running:\n", "Failures:\n  1) x (Y)\n",
            "ld: undefined reference to `x'\n", "Test Case 'A.b' passed (0.1 seconds)\n", "[1/2] Testing A.B/c\n",
        ])
    func testThatManyLinesTakeLinearTime(reader: Reader, line: String) { Self.expectLinearTime(reader, line) }
}
