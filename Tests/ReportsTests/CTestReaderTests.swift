import Model
import TestSupport
import Testing

@testable import Reports

/// CTest 3.25 itself reports for eight tests: 4 of 7 failed (one could not be started, one crashed, one ran too long), and two did not run.
@Suite struct CTestReaderTests {
    private let root = SourceRoot(mountedAt: "/kit")

    @Test(
        .proves(.reports, "CTest's JUnit, `Test.xml` and console; what could not be started has failed"),
        arguments: [
            ("ctest-junit.xml", TestCounts(8, failed: 4, skipped: 2)),
            ("ctest-Test.xml", .init(8, failed: 3, skipped: 2, crashed: 1)),
            ("ctest.txt", .init(8, failed: 3, skipped: 2, crashed: 1)),
        ])
    func testThatItReadsEveryFormAlike(sample: String, counts: TestCounts) throws {
        let content = ReportReader.read(try Samples.bytes(sample), fileName: sample, root: root)
        #expect(TestCounts(of: content.tests) == counts)
        #expect(content.problems == [])
        #expect(
            content.tests.map(\.name) == ["passes", "fails", "crashes", "missing", "skips", "off", "slow", "willfail"])
        #expect(try test("missing", in: content.tests).outcome == .failed, "its JUnit file says skipped")
        #expect(try test("off", in: content.tests).outcome == .skipped)
    }

    @Test func testThatItsOwnFileTellsMost() throws {
        let content = ReportReader.read(try Samples.bytes("ctest-Test.xml"), fileName: "Test.xml", root: root)
        #expect(try test("fails", in: content.tests).message == "Failed\nboom")
        #expect(try test("crashes", in: content.tests).message == "SEGFAULT")
        #expect(try test("slow", in: content.tests).duration == .seconds(1.00223))
    }

    /// The output of CTest 3.25 for thirteen tests, of which one is disabled.
    @Test func testThatTenTestsAndMoreAreRead() {
        // given
        var text = "Test project /b\n"
        for number in 1...13 {
            let width = number < 10 ? " " : ""
            text +=
                "      Start \(width)\(number): t\(number)\n\(width)\(number)/13 Test \(width)#\(number): t\(number) ......"
            text +=
                number == 12
                ? "***Failed    0.01 sec\n"
                : number == 13 ? "***Not Run (Disabled)   0.00 sec\n" : "   Passed    0.01 sec\n"
        }
        text += "\n92% tests passed, 1 tests failed out of 12\n"
        // when
        let content = ReportReader.read(Array(text.utf8), fileName: "a", root: root)
        // then
        #expect(TestCounts(of: content.tests) == .init(13, failed: 1, skipped: 1))
        #expect(content.problems == [])
    }

    @Test func testThatATestThatPassesWhenRunAgainIsFlaky() {
        let text = """
            Test project /b
            1/1 Test #1: a ................***Failed    0.10 sec
            no
                Start 1: a
            1/1 Test #1: a ................   Passed    0.20 sec

            100% tests passed, 0 tests failed out of 1
            """
        let content = ReportReader.read(Array(text.utf8), fileName: "a", root: root)
        #expect(content.tests.map(\.outcome) == [.flaky])
        #expect(content.tests.first?.message == "Failed\nno")
    }

    @Test(
        .proves(.reports, "CTest's JUnit, `Test.xml` and console; what could not be started has failed"),
        arguments: [
            ("Test project /b\n1/2 Test #1: a ...   Passed    0.10 sec\n", "ends before its 2 tests do"),
            (
                "Test project /b\n1/1 Test #1: a ...   Passed    0.10 sec\n\n0% tests passed, 1 tests failed out of 1",
                "names none"
            ),
            ("<Site><Build/></Site>", "another step"), ("<Site><Testing><Test Status='failed'>", "not well-formed"),
        ])
    func testThatWhatIsMissingIsNeverGreen(text: String, reason: String) {
        let content = ReportReader.read(Array(text.utf8), fileName: "a", root: root)
        #expect(content.problems.first?.contains(reason) == true, "\(content.problems)")
    }
}
