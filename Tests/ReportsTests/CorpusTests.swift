import Model
import TestSupport
import Testing

@testable import Reports

/// All reports and logs in the collected outputs of other tools, read as files that a recipe's `report:` names.
@Suite(.threat("P2")) struct CorpusTests {
    /// The number of findings, or the reason of a refusal. Reports of tests have tables of their own. The numbers were counted with grep, by eye
    /// and with Python's json; equal findings at one place count once.
    static let findings: [(file: String, findings: Int)] = [
        ("logs/analysis-model__CodeChecker_with_linux_paths.txt", 5),
        ("logs/analysis-model__doxygen.txt", 17),
        ("logs/analysis-model__eslint__eslint.json", 7),
        ("logs/analysis-model__gcc-clang-tidy-mixed.txt", 9),
        ("logs/analysis-model__gcc4-issue62454-1.txt", 3),
        ("logs/analysis-model__gcc4-issue62454-2.txt", 3),
        ("logs/analysis-model__gcc4ld.txt", 7),
        ("logs/analysis-model__llvm-clang.txt", 3),
        ("logs/analysis-model__llvm-linker.log", 3),
        ("logs/analysis-model__mixed-clang-lld-errors.log", 4),
        ("logs/analysis-model__msbuild.txt", 7),
        ("logs/analysis-model__violations__semgrep-report.json", 1),
        ("logs/clang-21__kilo.color.log", 42),
        ("logs/errorformat__eslint.in", 7),
        ("logs/errorformat__msbuild.in", 4),
        ("logs/errorformat__rubocop.in", 262),
        ("logs/errorformat__tsc.in", 3),
        ("logs/sarif-rs__shellcheck.out", 3),
        ("samples/asan-report.txt", 1),
        ("samples/tsan-report.txt", 2),
        ("samples/clang-analyze.sarif", 3),
        ("samples/clang-diagnostics.txt", 1),
        ("samples/sample.dia", 3),
        ("samples/swift-build-stdout.txt", 2),
        ("samples/swift-format-lint.txt", 13),
        ("samples/swiftc-diagnostics-llvm-style.txt", 3),
        ("samples/swiftc-diagnostics.txt", 3),
    ]

    /// The tests in logs and in formats without a table of their own. A package of Go that failed without a failing test counts as one.
    static let tests: [(file: String, counts: TestCounts)] = [
        ("logs/go-test__001-pass-fail-skip.txt", .init(5, failed: 1, skipped: 2)),
        ("logs/go-test__014-panic.txt", .init(2, failed: 2)),
        ("logs/go-test__113-race.gojson.txt", .init(2)),
        ("logs/xcbeautify__spi_swift_testing_short_log.txt", .init(4, failed: 3)),
        ("samples/swift-test-parallel-stdout.txt", .init(14, failed: 5, skipped: 1, known: 1)),
        ("samples/swift-test-stdout-xctest+swifttesting.txt", .init(14, failed: 5, skipped: 2, known: 1)),
        ("samples/swift-testing-events-6.3.jsonl", .init(7, failed: 3, skipped: 1, known: 1)),
        ("samples/swift-testing-events-v0.jsonl", .init(7, failed: 3, skipped: 1, known: 1)),
        ("testreports-other/cdash__AttachedFileTest.xml__AttachedFileTest.xml", .init(1)),
        ("testreports-other/cdash__DeferredSubmission__Test.xml", .init(2, failed: 1)),
        ("testreports-other/cdash__HideColumns__Test.xml", .init(1)),
        ("testreports-other/jenkins-xunit__boosttest-4.xml", .init(5, failed: 2)),
        ("testreports-other/jenkins-xunit__cppunit-3.xml", .init(0)),
        ("testreports-other/jenkins-xunit__cppunit-4.xml", .init(1, failed: 1)),
        ("testreports-other/jenkins-xunit__ctest-3.xml", .init(2, skipped: 1)),
    ]

    static let coverage = ["samples/lcov.info", "samples/llvm-cov-export.json"]

    /// Conversions of a log by other tools, and logs without any result.
    static let refusals = [
        "logs/errorformat__golangci-lint.ok", "logs/errorformat__msbuild.ok", "logs/errorformat__tsc.ok",
        "samples/swift-test-stderr.txt", "samples/swift-crash-backtrace.txt",
    ]

    private let root = SourceRoot(mountedAt: "/home/me/pkg", others: ["/home/me"])

    private func read(_ file: String) throws -> ReportContent {
        ReportReader.read(try Corpus.file(file).bytes(), fileName: "report", root: root)
    }

    @Test(
        .proves(.reports, "Every collected output of other tools read with its counts, or refused with the reason"),
        .corpus, arguments: findings)
    func testThatItFindsWhatTheFileSays(file: String, findings: Int) throws {
        let content = try read(file)
        #expect(content.findings.count == findings, "\(content.findings.map(\.message))")
        #expect(content.problems == [])
        #expect(content.tests == [])
    }

    @Test(
        .proves(.reports, "Every collected output of other tools read with its counts, or refused with the reason"),
        .corpus, arguments: tests)
    func testThatItCountsTheTests(file: String, counts: TestCounts) throws {
        let content = try read(file)
        #expect(TestCounts(of: content.tests) == counts, "\(content.tests.map { [$0.fullName, $0.outcome.rawValue] })")
        #expect(content.problems == [])
    }

    @Test(.corpus, arguments: coverage)
    func testThatItReadsCoverage(file: String) throws {
        let content = try read(file)
        #expect(content.problems == [])
        let files = try #require(content.coverage).files
        #expect(files.map(\.path) == ["Sources/Tiny/Tiny.swift"])
        #expect(files.first?.lines == .init(covered: 1, total: 3))
        #expect(files.first?.functions == .init(covered: 1, total: 3))
        #expect(files.first?.branches == nil)
    }

    @Test(
        .proves(.reports, "Every collected output of other tools read with its counts, or refused with the reason"),
        .corpus, arguments: refusals)
    func testThatItRefusesWhatItCannotTell(file: String) throws {
        let content = try read(file)
        #expect(content.problems == ["report unreadable: report: " + ReportFormat.unknown])
        #expect(content.findings == [] && content.tests == [])
    }

    @Test(
        .proves(.reports, "Every collected output of other tools read with its counts, or refused with the reason"),
        .corpus)
    func testThatEveryFileHasAnExpectation() {
        let known = Set(
            Self.findings.map(\.file) + Self.tests.map(\.file) + Self.coverage + Self.refusals
                + JUnitReaderTests.expectations.map(\.file) + JUnitReaderTests.refusals.map(\.file)
                + SARIFReaderTests.expectations.map(\.file) + SARIFReaderTests.refusals
                + SARIFReaderTests.unclean.map(\.0)
                + TAPReaderTests.expectations.map { "tap/tapjs__\($0.file).tap" })
        let folders = ["junit", "sarif", "logs", "tap", "testreports-other", "xml-attacks", "samples"]
        #expect(folders.flatMap { Corpus.files($0) }.map(\.name).filter { !known.contains($0) } == [])
    }
}
