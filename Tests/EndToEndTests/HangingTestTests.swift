import BotSupport
import Model
import Storage
import TestSupport
import Testing

@Suite struct HangingTestTests {
    /// SwiftPM passes on XCTest's output when its own buffer is full or when it exits. If it is ended at a limit, the name of the running test
    /// would be lost. The substitute delays its output in the same way: `tr` writes through the C library's buffer.
    private static let swift = """
        #!/bin/sh
        case "$*" in
        "test list"*) echo HangTests.H/testFine; echo HangTests.H/testHang ;;
        test*)
            {
                echo "Test Suite 'All tests' started at 2026-11-21 21:27:44.326"
                echo "Test Case 'H.testFine' started at 2026-11-21 21:27:44.351"
                echo "Test Case 'H.testFine' passed (0.001 seconds)"
                echo "Test Case 'H.testHang' started at 2026-11-21 21:27:44.353"
                exec sleep 600
            } | tr '#' '#'
            ;;
        esac

        """

    @Test(
        .proves(.badInput, "Tests that hang: test-failures, with the limit and the name of the test"),
        .program("stdbuf"))
    func testThatTheTestThatHangsIsNamed() async throws {
        try await withBot(BotPlan(isRepositoryEmpty: true, executor: .local)) { bot in
            // given
            try bot.directory.write("toolchain/usr/bin/swift", Self.swift, mode: 0o755)
            let limit = TestLimits.passing(milliseconds: 3000, most: 10_000) / 1000
            let recipe = """
                configurations:
                  debug: { toolchain: \(bot.directory.path("toolchain")), timeout: \(limit)s }
                analyze: []
                archive: { include: [] }

                """

            // when
            let integration = try await bot.integrate(
                Commit(files: ["Package.swift": "// swift-tools-version: 6.0\n", ".martlet.yml": recipe]))

            // then
            expectVerdict(of: integration, .testFailures)
            let outcomes = integration.tests.map { "\($0.result.name) \($0.result.outcome.rawValue)" }
            #expect(outcomes.sorted() == ["testFine passed", "testHang crashed"])
            let message = integration.tests.first { $0.result.name == "testHang" }?.result.message
            expectContains(message ?? "", "still running at the limit: ")
            // The supervisor exits a moment after its last event.
            await until("the end of all processes") { bot.jobProcesses.isEmpty }
        }
    }
}
