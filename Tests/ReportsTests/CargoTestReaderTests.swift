import Model
import TestSupport
import Testing

@testable import Reports

@Suite struct CargoTestReaderTests {
    private let root = SourceRoot(mountedAt: "/kit")

    /// The output of Cargo 1.95 for a crate with unit tests, a test in its own file and a documentation test. There are 7 tests, of which 2 fail
    /// and 1 is ignored, according to the `test result:` lines.
    @Test(
        .proves(.reports, "`cargo test`, console and JSON; messages of cargo and clippy"),
        arguments: ["cargo.txt", "cargo-stdout.txt", "cargo.jsonl"])
    func testThatItReadsEveryFormAlike(sample: String) throws {
        let content = ReportReader.read(try Samples.bytes(sample), fileName: sample, root: root)
        #expect(TestCounts(of: content.tests) == .init(7, failed: 2, skipped: 1))
        #expect(content.problems == [])
        let failed = try test("tests::fails", in: content.tests)
        #expect(failed.path == "src/lib.rs")
        #expect(failed.line == 10)
        #expect(failed.message?.contains("assertion `left == right` failed: sum") == true)
        #expect(try test("tests::errors", in: content.tests).message == "Error: \"bad\"")
        #expect(try test("tests::ignored", in: content.tests).message == "slow")
        #expect(try test("tests::panics", in: content.tests).outcome == .passed)
    }

    @Test func testThatBinariesAreSuites() throws {
        let content = CargoTestReader.read(try Samples.bytes("cargo.txt"), root: root)
        #expect(try test("tests::passes", in: content.tests).suite == "kit")
        #expect(try test("outer", in: content.tests).suite == "it")
        #expect(try test("src/lib.rs - add (line 2)", in: content.tests).suite == "Doc-tests kit")
    }

    @Test func testThatARedirectedResultIsFound() {
        let text = "running 1 test\ntest a ... printed\nok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored\n"
        #expect(CargoTestReader.read(Array(text.utf8), root: root).tests.map(\.outcome) == [.passed])
    }

    @Test(arguments: [
        ("running 2 tests\ntest a ... ok\n", "ends before its 2 tests do"),
        (
            "running 2 tests\ntest a ... ok\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored;",
            "1 passed and 1 failed, but 1 were named and 0 of them failed"
        ),
        (#"{"type":"suite","event":"started","test_count":1}"#, "ends before its 1 test do"),
        (
            """
            {"reason":"build-finished","success":false}
            {"reason":"build-finished","success":true}
            """, "cargo reports that the build failed"
        ),
    ])
    func testThatWhatIsMissingIsNeverGreen(text: String, reason: String) {
        let content = ReportReader.read(Array(text.utf8), fileName: "a", root: root)
        #expect(content.problems.first?.contains(reason) == true, "\(content.problems)")
    }

    @Test func testThatAStartedTestWithoutAnEndHasCrashed() {
        let text = """
            { "type": "suite", "event": "started", "test_count": 2 }
            { "type": "test", "event": "started", "name": "a" }
            """
        let content = ReportReader.read(Array(text.utf8), fileName: "a", root: root)
        #expect(content.tests.map(\.outcome) == [.crashed])
    }

    @Test(.proves(.reports, "`cargo test`, console and JSON; messages of cargo and clippy"))
    func testThatMessagesOfCargoAreFindings() throws {
        let content = ReportReader.read(try Samples.bytes("clippy.jsonl"), fileName: "c", root: root)
        #expect(
            content.findings == [
                Finding(
                    category: .warning, message: "unused variable: `unused`", rule: "unused_variables",
                    path: "src/lib.rs",
                    line: 5, column: 41),
                Finding(
                    category: .warning, message: "unneeded `return` statement", rule: "clippy::needless_return",
                    path: "src/lib.rs", line: 5, column: 53),
            ])
        #expect(content.problems == [])
        let cut = Array(try Samples.bytes("clippy.jsonl").dropLast(60))
        #expect(ReportReader.read(cut, fileName: "c", root: root).problems.isEmpty == false)
    }

    @Test func testThatManyBinariesWithoutAnEndHaveFewProblems() {
        // given
        let text = String(repeating: "running 1 test\n", count: 1000)
        // when
        let content = CargoTestReader.read(Array(text.utf8), root: SourceRoot(mountedAt: "/k"))
        // then
        #expect(content.problems.count == 100)
    }

    private static let named = "     Running unittests src/lib.rs (target/debug/deps/kit-bc7dfe0aad7b930d)\n\n"
    private static let quoted =
        "test a ... ok\nrunning 3 tests\ntest b ... ok\n\ntest result: ok. 2 passed; 0 failed; 0 ignored;\n"

    /// Returns what the consoles of a step report about Cargo.
    private func console(_ text: String) -> ReportContent? {
        var reader = CargoTestReader(root: root)
        LogLines.forEach(in: Array(text.utf8)) { reader.consume($0) }
        return reader.finish()
    }

    @Test(
        .proves(.steps, "A line that a test printed begins no run of Cargo's and ends none of Go's"),
        arguments: ["", named])
    func testThatALineThatATestPrintedBeginsNoRun(name: String) {
        let content = console(name + "running 2 tests\n" + Self.quoted)
        #expect(content?.tests.map(\.fullName) == (name.isEmpty ? ["a", "b"] : ["kit/a", "kit/b"]))
        #expect(content?.problems == [])
    }

    @Test func testThatALineThatAFailedTestPrintedIsItsOutput() {
        let text = """
            running 1 test
            test a ... FAILED

            failures:

            ---- a stdout ----
            running 3 tests

            test result: FAILED. 0 passed; 1 failed; 0 ignored;
            """
        let content = console(text)
        #expect(content?.tests.map(\.message) == ["running 3 tests"])
        #expect(content?.problems == [])
    }

    @Test(arguments: [
        "running 12 tests\n", "running 12 tests\n1..12\n",
        "running 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored;\nrunning 12 tests\n",
    ])
    func testThatAnotherProgramsLineIsNoRunThatBrokeOff(text: String) {
        #expect(console(text)?.problems ?? [] == [])
    }

    /// The output of Cargo 1.95 with `-q`, when a test of the first binary calls `exit(0)`.
    @Test(
        .proves(.steps, "A line that a test printed begins no run of Cargo's and ends none of Go's"),
        arguments: [
            "\nrunning 3 tests\n.\nrunning 1 test\n.\ntest result: ok. 1 passed; 0 failed; 0 ignored;\n\n",
            "\nrunning 3 tests\n\nrunning 1 test\n.\ntest result: ok. 1 passed; 0 failed; 0 ignored;\n\n",
            "\nrunning 3 tests\n\nrunning 2 tests\n\nrunning 1 test\n.\ntest result: ok. 1 passed; 0 failed; 0 ignored;\n\n",
            "\nrunning 3 tests\n.", "\nrunning 3 tests\n.i 2/3\n", "\nrunning 3 tests\na::b --- FAILED\n",
        ])
    func testThatAQuietBinaryThatIsCutOffIsMissed(text: String) {
        expectContains(console(text)?.problems.first ?? "", "a test binary ends before its 3 tests do")
    }

    @Test(
        .proves(.steps, "A line that a test printed begins no run of Cargo's and ends none of Go's"),
        arguments: [
            // Lines of other programs.
            "running 3 tests\n..........\n", "running 3 tests\n... done\n", "running 3 tests\n.. 1/2/3\n",
            // Cargo names each binary, so the first line is not Cargo's.
            "running 3 tests\n" + named
                + "running 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored;\n",
            "\nrunning 3 tests\n.i.\ntest result: ok. 2 passed; 0 failed; 1 ignored;\n\n\nrunning 1 test\n.\n"
                + "test result: ok. 1 passed; 0 failed; 0 ignored;\n",
        ])
    func testThatAQuietBinaryThatEndsIsNoProblem(text: String) {
        #expect(console(text)?.problems ?? [] == [])
    }

    @Test(
        .proves(.steps, "A line that a test printed begins no run of Cargo's and ends none of Go's"),
        arguments: [
            // The process exits before a test ends.
            named + "running 2 tests\n", "running 2 tests\ntest a ... ok\n",
            // Another binary follows one that was cut off.
            named
                + "running 2 tests\ntest a ... ok\n     Running tests/it.rs (target/debug/deps/it-0123456789abcdef)\n\n"
                + "running 1 test\ntest x ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored;\n",
            "running 2 tests\ntest a ... ok\n\nrunning 2 tests\ntest x ... ok\ntest y ... ok\n\n"
                + "test result: ok. 2 passed; 0 failed; 0 ignored;\n",
        ])
    func testThatABinaryThatIsCutOffIsStillMissed(text: String) {
        expectContains(console(text)?.problems.first ?? "", "ends before its 2 tests do")
    }
}
