import Model
import Testing

@testable import Reports

/// A process crashes once, however many tests it was running.
@Suite struct CrashedProcessTests {
    private func read(_ text: String) -> ReportContent {
        ReportReader.read(Array(text.utf8), fileName: "a", root: SourceRoot(mountedAt: "/k"))
    }

    private func said(_ content: ReportContent) -> [String] {
        content.tests.map { "\($0.fullName) \($0.outcome.rawValue)" }
    }

    @Test func testThatTestsBesideACrashDidNotRunToTheirEnd() {
        // given
        let text =
            "◇ Test run started.\n◇ Test a() started.\n◇ Test b() started.\n◇ Test c() started.\n"
            + "✔ Test c() passed after 0.1 seconds.\nKit/A.swift:3: Fatal error: planted\n"
        // when
        let content = read(text)
        // then
        #expect(said(content) == ["a() skipped", "b() skipped", "c() passed", "(process) crashed"])
        #expect(content.tests.first?.message == CrashedProcess.notRun)
        let message = content.tests.last?.message ?? ""
        #expect(message.contains("planted") && message.contains("2 tests were running") && message.contains("a(), b()"))
    }

    @Test func testThatTheOnlyTestThatWasRunningHasCrashed() {
        #expect(said(read("◇ Test run started.\n◇ Test a() started.\n")) == ["a() crashed"])
    }

    @Test func testThatAFailureBeforeTheCrashIsKept() {
        // given
        let text =
            "◇ Test run started.\n◇ Test a() started.\n◇ Test b() started.\n✘ Test a() recorded an issue at A.swift:1:2: no\n"
        // then
        #expect(said(read(text)) == ["a() failed", "b() skipped", "(process) crashed"])
    }

    @Test func testThatAPanicOfGoEndsOneTest() {
        // given: two tests that wait for their turn, and one that panics
        let text =
            "=== RUN   TestA\n=== PAUSE TestA\n=== RUN   TestB\n=== PAUSE TestB\n=== RUN   TestC\n--- FAIL: TestC (0.00s)\n"
            + "panic: boom [recovered]\n\tpanic: boom\n\ngoroutine 6 [running]:\nFAIL\tk\t0.1s\n"
        // then
        #expect(said(read(text)) == ["k/TestC failed", "k/TestA skipped", "k/TestB skipped"])
    }

    @Test(arguments: [
        ("panic: test timed out after 1s\nrunning tests:\n\tTestB (1s)\n", "k/TestB crashed", "k/TestA skipped"),
        ("panic: boom\n\ngoroutine 7 [running]:\nk.TestB.func1(0xc0)\n", "k/TestB crashed", "k/TestA skipped"),
        ("panic: boom\n", "k/(package) crashed", "k/TestB skipped"),
    ])
    func testThatAPanicBesideOtherTestsIsOneCrash(panic: String, crashed: String, skipped: String) {
        // given
        let text =
            "=== RUN   TestA\n=== PAUSE TestA\n=== RUN   TestB\n=== PAUSE TestB\n=== CONT  TestA\n=== CONT  TestB\n"
            + panic + "FAIL\tk\t0.1s\n"
        // when
        let found = said(read(text))
        // then
        #expect(found.contains(crashed) && found.contains(skipped), "\(found)")
        #expect(found.count { $0.hasSuffix("crashed") } == 1)
    }
}
