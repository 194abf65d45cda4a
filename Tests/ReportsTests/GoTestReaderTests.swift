import Model
import TestSupport
import Testing

@testable import Reports

@Suite struct GoTestReaderTests {
    private let root = SourceRoot(mountedAt: "/kit")

    /// Go 1.19's own output on four packages: one with passing, failing and skipped tests, one that panics, one that cannot be
    /// built, one without tests. Of those that pass nothing is printed without `-v`.
    @Test(arguments: [
        ("go.jsonl", TestCounts(9, failed: 5, skipped: 1)), ("go-verbose.txt", .init(9, failed: 5, skipped: 1)),
        ("go.txt", .init(5, failed: 5)),
    ])
    func testThatItReadsEveryFormAlike(sample: String, counts: TestCounts) throws {
        let content = ReportReader.read(try Samples.bytes(sample), fileName: sample, root: root)
        #expect(TestCounts(of: content.tests) == counts, "\(content.tests.map { [$0.fullName, $0.outcome.rawValue] })")
        #expect(content.problems == [])
        #expect(try test("TestFail", in: content.tests).message == "a_test.go:4: got 1, want 2")
        #expect(try test("TestFail", in: content.tests).suite == "example.com/kit/a")
        #expect(try test("TestSub/two", in: content.tests).message == "a_test.go:8: no")
        let unbuilt = try test("(package)", in: content.tests)
        #expect(unbuilt.suite == "example.com/kit/c")
        #expect(unbuilt.message?.hasPrefix("build failed") == true)
    }

    @Test func testThatATestWithoutAnEndHasCrashed() {
        let text = "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\npanic: boom\nFAIL\tkit/a\t0.1s\n"
        let content = ReportReader.read(Array(text.utf8), fileName: "a", root: root)
        #expect(content.tests.map(\.outcome) == [.passed, .crashed])
        #expect(content.tests.last?.message?.contains("panic: boom") == true)
    }

    @Test(arguments: [
        "=== RUN   TestA\n--- PASS: TestA (0.00s)\n",
        #"{"Action":"run","Package":"k","Test":"TestA"}"# + "\n" + #"{"Action":"pass","Package":"k","Test":"TestA"}"#,
    ])
    func testThatOutputThatBreaksOffIsAProblem(text: String) {
        let content = ReportReader.read(Array(text.utf8), fileName: "a", root: root)
        #expect(content.problems.first?.contains("the output of go test ends before") == true, "\(content.problems)")
    }

    @Test func testThatALineThatIsNoJSONIsAProblem() {
        let text = #"{"Action":"start","Package":"k"}"# + "\n{\"Action\":\n" + #"{"Action":"pass","Package":"k"}"#
        let content = ReportReader.read(Array(text.utf8), fileName: "a", root: root)
        #expect(content.problems == ["report unreadable: a: line 2: no JSON"])
    }
}
