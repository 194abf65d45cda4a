import BotSupport
import Execution
import ExecutionSupport
import Foundation
import Glibc
import JobProtocol
import Model
import Storage
import TestSupport
import Testing

/// Row J5: the daemon is stopped for a while. Jobs that ended meanwhile are not taken for late. A stopped supervisor is a row of `ThreatTests`.
@Suite(.proves(.jobs, "A suspended daemon takes no job for late; deadlines hold without it (J5)"))
struct J5SuspensionTests {
    @Test func testThatAJobThatEndedWhileTheDaemonWasStoppedIsTakenUp() async throws {
        try await withDaemon { daemon in
            // given
            try await WaitingProject.push(daemon)
            await until("the job runs") { WaitingProject.isBuilding(daemon) }
            let pid = try #require(daemon.pid)

            // when
            kill(pid, SIGSTOP)
            defer { kill(pid, SIGCONT) }
            try daemon.directory.write("go", "")
            await until("the job's end") {
                let status = daemon.state + "/integrations/kit/1/debug/1/status.jsonl"
                return (try? String(contentsOfFile: status, encoding: .utf8).contains("finished")) ?? false
            }
            kill(pid, SIGCONT)

            // then
            expectContains(try await daemon.completion(of: 1), #""result":"succeeded""#)
            expectFile(daemon.directory.path("runs"), "run\n")
        }
    }

    @Test func testThatADeadlineHoldsWithoutTheDaemon() async throws {
        // The daemon must exit before.
        let seconds = TestLimits.passing(milliseconds: 2000) / 1000
        let recipe = "configurations:\n  debug: { build: 'sleep 600', timeout: \(seconds)s }\nanalyze: []\n"
        try await withBot(BotPlan(recipe: recipe, executor: .local)) { bot in
            // given
            let id = try await bot.begin()
            let attempt = try await bot.attempt(of: id, at: .building)
            try await bot.stop()

            // when: the supervisor's own clock passes it
            await until("the job's end") { (try? bot.directory(of: attempt).status().last?.isFinished) ?? false }

            // then
            try await bot.start()
            expectVerdict(of: try await bot.completion(of: id), .buildErrors, because: "building exceeded \(seconds) s")
        }
    }

    @Test func testThatTenMinutesOfTheDaemonsClocksEndNoJob() async throws {
        let executor = HeldExecutor()
        try await withBot(BotPlan(executor: .scripted(executor.scripted))) { bot in
            // given
            let id = try await bot.begin()
            let attempt = try await bot.attempt(of: id)
            await until("the job begins") { !executor.scripted.starts.isEmpty }

            // when
            bot.time.advance(by: .seconds(600))
            bot.timer.advance(by: .seconds(600))

            // then
            #expect(try await bot.store.integration(id)?.state.verdict == nil)
            try executor.complete(bot.directory(of: attempt))
            let integration = try await bot.completion(of: id)
            expectVerdict(of: integration, .succeeded)
            #expect(integration.attempts.count == 1)
        }
    }
}
