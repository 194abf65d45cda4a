import BotSupport
import Glibc
import Model
import Storage
import TestSupport
import Testing

/// The launcher dies in the middle of a job. The job continues, and later jobs get another launcher.
@Suite struct LauncherLifecycleTests {
    @Test func testThatItsJobsGoOnAndNewOnesGetAnother() async throws {
        try await withBot(BotPlan(file: "branches: [main, topic]\n", executor: .local)) { bot in
            // given
            let waiting = Commit.running(
                .testing, of: "debug",
                script: """
                    echo run >>\(bot.directory.path("runs"))
                    while [ ! -f \(bot.directory.path("go")) ]; do sleep 0.02; done
                    """)
            let first = try await bot.begin(waiting, on: "main")
            _ = try await bot.attempt(of: first, at: .testing)
            let launcher = try #require(bot.launcher)

            // when
            kill(launcher, SIGKILL)
            await until("it is gone") { bot.launcher == nil }
            let second = try await bot.integrate(Commit(files: ["n": "2"]), on: "topic")

            // then
            expectVerdict(of: second, .succeeded)
            #expect(bot.launcher != nil && bot.launcher != launcher)
            #expect(try await bot.store.integration(first)?.state.verdict == nil)
            try bot.directory.write("go", "")
            let integration = try await bot.completion(of: first)
            expectVerdict(of: integration, .succeeded)
            #expect(integration.attempts.count == 1)
            expectFile(bot.directory.path("runs"), "run\n")
        }
    }
}
