import Model
import TestSupport
import Testing

@testable import Reports

@Suite struct GoTestReaderTests {
    private let root = SourceRoot(mountedAt: "/kit")

    /// The output of Go 1.19 for four packages: one with passing, failing and skipped tests, one that panics, one that cannot be built, one without
    /// tests. Passing tests are printed only with `-v`.
    @Test(
        .proves(.reports, "`go test -json` and its console"),
        arguments: [
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

    @Test(.proves(.reports, "`go test -json` and its console"))
    func testThatATestWithoutAnEndHasCrashed() {
        let text = "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\npanic: boom\nFAIL\tkit/a\t0.1s\n"
        let content = ReportReader.read(Array(text.utf8), fileName: "a", root: root)
        #expect(content.tests.map(\.outcome) == [.passed, .crashed])
        #expect(content.tests.last?.message?.contains("panic: boom") == true)
    }

    /// The output of Go 1.19, and of Go 1.24 in JSON.
    @Test(arguments: [
        """
        # kit/sub
        sub/s_test.go:6:2: no required module provides package kit.example/missing; to add it:
        \tgo get kit.example/missing
        # kit [kit.test]
        ./kit_test.go:5:28: undefined: undefinedThing
        FAIL\tkit/sub [setup failed]
        FAIL\tkit [build failed]
        FAIL
        """,
        #"""
        {"ImportPath":"kit/sub","Action":"build-output","Output":"# kit/sub\n"}
        {"ImportPath":"kit/sub","Action":"build-output","Output":"sub/s_test.go:6:2: no required module provides package kit.example/missing\n"}
        {"ImportPath":"kit [kit.test]","Action":"build-output","Output":"# kit [kit.test]\n"}
        {"ImportPath":"kit [kit.test]","Action":"build-output","Output":"./kit_test.go:5:28: undefined: undefinedThing\n"}
        {"ImportPath":"kit [kit.test]","Action":"build-fail"}
        {"Action":"start","Package":"kit/sub"}
        {"Action":"output","Package":"kit/sub","Output":"FAIL\tkit/sub [setup failed]\n"}
        {"Action":"fail","Package":"kit/sub","Elapsed":0,"FailedBuild":"kit/sub"}
        {"Action":"start","Package":"kit"}
        {"Action":"output","Package":"kit","Output":"FAIL\tkit [build failed]\n"}
        {"Action":"fail","Package":"kit","Elapsed":0,"FailedBuild":"kit [kit.test]"}
        """#,
    ])
    func testThatWhatTheCompilerSaysHasItsPlace(text: String) {
        // when
        let content = ReportReader.read(Array(text.utf8), fileName: "a", root: root)
        // then
        let found = content.tests.map { "\($0.suite) \($0.path ?? "") \($0.line ?? 0)" }
        #expect(Set(found) == ["kit/sub sub/s_test.go 6", "kit kit_test.go 5"])
        #expect(content.tests.contains { $0.message?.contains("undefined: undefinedThing") == true })
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

    private static func event(_ action: String, test: String? = nil, output: String? = nil) -> String {
        let test = test.map { #","Test":"\#($0)""# } ?? ""
        let output = output.map { #","Output":"\#($0)""# } ?? ""
        return #"{"Action":"\#(action)","Package":"kit"\#(test)\#(output)}"# + "\n"
    }

    private static let quotedEnd = event("output", test: "TestA", output: #"ok  \tkit\t0.1s\n"#)

    @Test func testThatACutRunLeavesTheTestsOfTheRunBefore() {
        // given: a package that passes, and ends in the middle of its test when it runs again
        let run = Self.event("run", test: "TestA")
        let pass = Self.event("pass", test: "TestA")
        let text = run + pass + Self.event("pass") + run + Self.quotedEnd + pass
        // when
        let content = ReportReader.read(Array(text.utf8), fileName: "a", root: root)
        // then
        #expect(content.tests.map { "\($0.name) \($0.outcome.rawValue)" } == ["TestA passed", "TestA (2) crashed"])
        #expect(content.problems == [])
    }

    @Test func testThatTwoPackagesThatAreCutAtTheSameTimeHaveOneCrashEach() {
        // given packages that run side by side
        let names = ["kit/a", "kit/b"]
        let text = ["run", "output", "pass"].flatMap { action in
            names.map { name in
                let output = action == "output" ? #","Output":"ok  \t\#(name)\t0.1s\n""# : ""
                return #"{"Action":"\#(action)","Package":"\#(name)","Test":"TestA"\#(output)}"# + "\n"
            }
        }.joined()
        // when
        let content = ReportReader.read(Array(text.utf8), fileName: "a", root: root)
        // then
        let found = content.tests.map { "\($0.suite) \($0.name) \($0.outcome.rawValue)" }
        #expect(found == ["kit/a TestA crashed", "kit/b TestA crashed"])
    }

    @Test(.timeLimit(TestLimits.minutes(1))) func testThatATestThatPrintsThePackagesEndOftenIsOneCrash() {
        // given
        let text = Self.event("run", test: "TestA") + String(repeating: Self.quotedEnd, count: 5000)
        // when
        let content = ReportReader.read(Array(text.utf8), fileName: "a", root: root)
        // then
        #expect(content.tests.map { "\($0.name) \($0.outcome.rawValue)" } == ["TestA crashed"])
    }

    @Test func testThatAPanicIsNotTheNextRunsMessage() {
        // given: a package that panics, and fails without a message when it runs again
        let text =
            Self.event("run", test: "TestA") + Self.event("output", output: #"panic: first\n"#) + Self.event("fail")
            + Self.event("run", test: "TestB") + Self.event("fail")
        // when
        let content = ReportReader.read(Array(text.utf8), fileName: "a", root: root)
        // then
        #expect(content.tests.map(\.outcome) == [.crashed, .crashed])
        #expect(content.tests.map { $0.message?.contains("panic: first") ?? false } == [true, false])
    }

    @Test(.timeLimit(TestLimits.minutes(1))) func testThatManyUnbuiltPackagesAreReadInLinearTime() {
        // given: a compiler's messages without a place, and packages that fail with none of these
        let messages = (0..<1000).map { "# b\($0)\n" + String(repeating: "no place\n", count: 20) }
        let packages = (0..<5000).map { "FAIL\tq\($0) [build failed]\n" }
        // when
        let content = GoTestReader.read(Array((messages + packages).joined().utf8), root: root)
        // then
        #expect(content.tests.count == 5000)
        #expect(content.tests.allSatisfy { $0.message?.hasPrefix("build failed") == true && $0.path == nil })
    }

    @Test(.timeLimit(TestLimits.minutes(1))) func testThatATestIsFoundInATraceAmongManyTests() {
        // given
        let names = Set((0..<100_000).map { "Test\($0)/part" })
        let trace = (0..<900).map { "kit.TestZ\($0)(0xc000007a00)\n" }.joined()
        // when
        let found = GoMessages.tests(in: trace + "kit.Test7.func1(0xc000007a00)\n", of: names)
        // then
        #expect(found == ["Test7/part"])
    }
}
