import Model
import TestSupport
import Testing

@testable import Reports

@Suite struct TAPReaderTests {
    /// Counted by eye: only leaves, and the problems of the plan.
    static let expectations: [(file: String, counts: TestCounts, problem: String?)] = [
        ("basic", .init(5, failed: 2), "6 tests planned, but 5 came"),
        ("bignum_many", .init(11), "2 tests planned, but 11 came"),
        ("buffered-nested-failure-top-ok-no-msg", .init(1, failed: 1), nil),
        ("buffered-with-diag-not-ok", .init(2, failed: 1), nil),
        ("delayed", .init(5, failed: 1), nil),
        ("empty-buffered-child", .init(1), nil),
        ("extra-in-child", .init(3), nil),
        ("implicit-counter", .init(4), nil),
        ("lone_not_bug", .init(4), nil),
        ("not-ok-with-trailing-comment", .init(4, failed: 1), nil),
        ("not-ok", .init(4, failed: 1), nil),
        ("out-of-order", .init(4), nil),
        ("perl-test2-streamed", .init(4), nil),
        ("pragma-mid-child", .init(1), nil),
        ("pragma-mid-yaml", .init(1), nil),
        ("simple", .init(5), nil),
        ("skip-all-nonempty", .init(1), nil),
        ("skip-one-fail", .init(1, skipped: 1), nil),
        ("subtest-comment-noindent", .init(6), nil),
        ("too_many", .init(7), "3 tests planned, but 7 came"),
        ("version-in-yaml", .init(4, failed: 4), nil),
        ("yamlish", .init(1, failed: 1), nil),
        ("zero_valid", .init(5), "test 0 is not in the plan 1..5"),
    ]

    private let root = SourceRoot(mountedAt: "/kit")

    private func read(_ text: String) -> ReportContent {
        ReportReader.read(Array(text.utf8), fileName: "a.tap", root: root)
    }

    @Test(.proves(.reports, "TAP 12 to 14: subtests, directives, plans, bail outs"), .corpus, arguments: expectations)
    func testThatItCountsAsTheFileDoes(file: String, counts: TestCounts, problem: String?) throws {
        let bytes = try Corpus.file("tap/tapjs__\(file).tap").bytes()
        let content = ReportReader.read(bytes, fileName: "a.tap", root: root)
        #expect(TestCounts(of: content.tests) == counts, "\(content.tests.map { [$0.fullName, $0.outcome.rawValue] })")
        #expect(content.problems == (problem.map { ["a.tap: the TAP contradicts itself: " + $0] } ?? []))
        #expect(Set(content.tests.map(\.fullName)).count == content.tests.count, "no test twice")
    }

    @Test(.proves(.reports, "TAP 12 to 14: subtests, directives, plans, bail outs"))
    func testThatSubtestsHaveTheirParentsName() {
        // given: subtests before their test point, in braces after it, and deeper
        let content = read(
            """
            TAP version 14
            # Subtest: outer
                # Subtest: inner
                    ok 1 - a
                    not ok 2 - b
                    1..2
                not ok 1 - inner
                1..1
            not ok 1 - outer
            ok 2 - braces {
                1..1
                ok 1 - c
            }
            1..2
            """)
        // then
        #expect(content.problems == [])
        #expect(content.tests.map(\.fullName) == ["outer > inner/a", "outer > inner/b", "braces/c"])
        #expect(content.tests.map(\.outcome) == [.passed, .failed, .passed])
    }

    /// `# TODO` and `# SKIP` are words of the format (TAP 14, "Directives").
    @Test(
        arguments: [
            ("1..1\nnot ok 1 - a # TODO later", TestResult.Outcome.knownIssue, "later"),
            ("1..1\nok 1 - a # skip not here", .skipped, "not here"), ("1..1\nok 1 - a # TODO", .passed, nil),
            ("1..1\nnot ok 1 - a # SKIP", .skipped, nil), ("1..1\nnot ok 1 - a \\# SKIP x", .failed, nil),
            ("1..1\nok 1 - a # Skipped: why", .skipped, "why"), ("1..1\nnot ok 1 - a # todone", .failed, nil),
        ] as [(String, TestResult.Outcome, String?)])
    func testThatDirectivesCount(text: String, outcome: TestResult.Outcome, message: String?) {
        #expect(read(text).tests.map(\.outcome) == [outcome])
        #expect(read(text).tests.first?.message == message)
        #expect(read(text).problems == [])
    }

    @Test func testThatAFailureHasItsTextAndItsPlace() throws {
        let content = read(
            """
            1..3
            not ok 1 - node # time=12.5ms
              ---
              message: "no"
              at:
                file: /kit/test/a.js
                line: 7
              ...
            not ok 2 - perl
            #   Failed test 'perl'
            #   at t/b.t line 12.
            not ok 3 - runner
              ---
              duration_ms: 3.25
              location: '/kit/test/c.mjs:4:1'
              ...
            """)
        let node = try test("node", in: content.tests)
        #expect(node.path == "test/a.js")
        #expect(node.line == 7)
        #expect(node.duration == .milliseconds(12.5))
        #expect(node.message?.hasPrefix("message: \"no\"") == true)
        let perl = try test("perl", in: content.tests)
        #expect(perl.path == "t/b.t")
        #expect(perl.line == 12)
        #expect(try test("runner", in: content.tests).line == 4)
        #expect(try test("runner", in: content.tests).duration == .milliseconds(3.25))
    }

    @Test(
        .proves(.reports, "TAP 12 to 14: subtests, directives, plans, bail outs"),
        arguments: [
            ("ok 1\nok 2", "no plan"), ("1..3\nok 1", "3 tests planned, but 1 came"),
            ("1..2\nok 1\nBail out! no database", "bailed out: no database"),
            ("1..2\nok 1\nok 1", "test 1 is there twice"),
            ("1..1\n1..1\nok 1", "two plans"), ("1..1\nok 1\n1..2\nok 1", "2 tests planned, but 1 came"),
            ("TAP version 13\n1..2\nok 1\nTAP version 13\n1..1\nok 1", "2 tests planned, but 1 came"),
            ("1..1\nok 1\nok 1\nok 2", "no plan"), ("0..3\nok\nok", "4 tests planned, but 2 came"),
            ("1..0\nok 1", "0 tests planned, but 1 came"),
        ])
    func testThatWhatIsMissingIsNeverGreen(text: String, reason: String) {
        #expect(read(text).problems.first?.contains(reason) == true, "\(read(text).problems)")
    }

    @Test func testThatAChildsWrongPlanIsAFailedTest() {
        let content = read("1..1\n    1..3\n    ok 1 - a\nok 1 - parent")
        #expect(content.tests.map(\.outcome) == [.passed, .failed])
        #expect(content.tests.last?.fullName == "parent/(plan)")
    }

    @Test func testThatTestsWithoutANameAreDifferentOnes() {
        let content = read("not ok\nok\n1..2")
        #expect(content.tests.map(\.name) == ["test 1", "test 2"])
        #expect(content.tests.map(\.outcome) == [.failed, .passed], "none was run again")
    }

    @Test func testThatAStrictPragmaForbidsOtherLines() {
        #expect(read("noise\npragma +strict\nok 1\npragma -strict\nnoise\n1..1").problems == [])
        #expect(read("pragma +strict\nok 1\nnoise\n1..1").problems.first?.contains("pragma +strict forbids") == true)
    }

    @Test func testThatSkippingAllIsSaid() {
        let content = read("1..0 # SKIP no network")
        #expect(content.problems == [])
        #expect(content.notes == ["a.tap: all tests skipped: no network"])
    }

    @Test(arguments: ["TAP version 13\nok 1\n", "1..0\n"]) func testThatManyDocumentsHaveFewSentences(document: String)
    {
        // given
        let text = String(repeating: document, count: 1000)
        // when
        let content = TAPReader.read(Array(text.utf8), root: SourceRoot(mountedAt: "/k"))
        // then
        #expect(content.problems.count + content.notes.count == 100)
    }
}
