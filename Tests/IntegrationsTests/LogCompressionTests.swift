import Basics
import BotSupport
import Execution
import ExecutionSupport
import Glibc
import JobProtocol
import TestSupport
import Testing

@Suite struct LogCompressionTests {
    private static let output = (0..<2000).map { "[\($0)/2000] Compiling Kit File\($0 * 7919).swift\n" }.joined()
    private static let plan = BotPlan(
        executor: .scripted(
            ScriptedExecutor { _ in
                .init { _, step in .init(output: step.step == "building" ? output : "") }
            }))

    private func waitForCompression(of attempt: AttemptDirectory) async {
        await until("the log is compressed", limit: Bot.waitLimit) {
            access(attempt.path + "/log.zst", F_OK) == 0 && access(attempt.paths.log, F_OK) != 0
        }
    }

    @Test func testThatTheLogOfACompletedIntegrationIsCompressedAndReadsAsBefore() async throws {
        try await withBot(Self.plan) { bot in
            // when
            let integration = try await bot.integrate()
            // then
            let attempt = try #require(integration.attempts.first)
            await waitForCompression(of: bot.directory(of: attempt))
            #expect(try bot.log(of: attempt) == Self.output)
        }
    }

    @Test func testThatALogThatADaemonLeftIsCompressedByTheNext() async throws {
        try await withBot(Self.plan) { bot in
            // given: it was stopped before it could
            let integration = try await bot.integrate()
            let attempt = try #require(integration.attempts.first)
            let directory = bot.directory(of: attempt)
            await waitForCompression(of: directory)
            try await bot.stop()
            let files = try Directory(opening: directory.path)
            try files.remove("log.zst")
            try files.write("log", bytes: Array(Self.output.utf8))
            // when
            try await bot.start()
            // then
            await waitForCompression(of: directory)
            #expect(try bot.log(of: attempt) == Self.output)
        }
    }
}
