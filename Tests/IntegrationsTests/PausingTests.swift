import BotSupport
import Execution
import ExecutionSupport
import Model
import Storage
import TestSupport
import Testing

@testable import Integrations

/// Pauses of the service and of bots, with a service that runs.
@Suite struct PausingTests {
    @Test(
        .proves(.intake, "While the service or a bot is paused, events queue integrations and none starts"),
        arguments: [false, true])
    func testThatNothingStartsDuringAPause(isOfBot: Bool) async throws {
        let executor = ScriptedExecutor.playing()
        try await withBot(BotPlan(executor: .scripted(executor))) { bot in
            // given
            let scope = isOfBot ? bot.name : nil
            let paused = try await bot.operations.control.pause(bot: scope, reason: "the disk", by: "ann")
            #expect(paused.pauses.all.map(\.bot) == [scope])
            // when
            let id = try await bot.begin()
            // then: the queue says why, also after a restart
            try await bot.restart()
            let forecast = try await bot.operations.queueForecast()
            #expect(forecast.waiting.map(\.integration.id) == [id])
            #expect(forecast.waiting.map(\.reason) == ["paused by ann: the disk"])
            #expect(forecast.running.isEmpty && executor.starts.isEmpty)
            // when
            let resumed = try await bot.operations.control.resume(bot: scope, by: "bob")
            // then
            #expect(resumed.pauses == Pauses() && !resumed.isDrained)
            expectVerdict(of: try await bot.completion(of: id), .succeeded)
        }
    }

    @Test(
        .proves(
            .intake, "A drain lets what runs go on to its end, and `martlet drain --wait` returns when nothing runs"))
    func testThatADrainWaitsForWhatRuns() async throws {
        try await withRunningJob { bot, executor, id in
            // when
            let drained = try await bot.operations.control.drain(reason: nil, by: "ann")
            // then
            #expect(drained.running == 1 && !drained.isDrained)
            #expect(drained.pauses.drain?.person == "ann")
            let next = try await bot.begin()
            // when: it ends
            let job = AttemptDirectory(path: try #require(executor.starts.first))
            try await executor.cancel(job, reason: "enough", grace: .zero)
            expectVerdict(of: try await bot.completion(of: id), .canceled)
            // then
            await until("nothing runs") { (try? await bot.operations.control.state().isDrained) == true }
            let forecast = try await bot.operations.queueForecast()
            #expect(forecast.waiting.map(\.integration.id) == [next])
            #expect(forecast.waiting.map(\.reason) == ["drained by ann"])
            #expect(executor.starts.count == 1)
            try await bot.operations.cancel(next, by: "ann")
        }
    }

    @Test(.proves(.badInput, "A pause of an unknown bot, or with a reason over 1,000 bytes, is refused"))
    func testThatAWrongRequestIsRefusedWithASentence() async throws {
        try await withBot { bot in
            let control = try bot.operations.control
            let nobody = try Samples.name("nobody")
            await #expect(throws: OperationError.self) {
                _ = try await control.pause(bot: nobody, reason: nil, by: "ann")
            }
            for (reason, words) in [(" ", "1 to 1000 bytes"), (String(repeating: "x", count: 1001), "1 to 1000")] {
                let error = await #expect(throws: OperationError.self) {
                    _ = try await control.pause(bot: nil, reason: reason, by: "ann")
                }
                #expect(error?.code == .invalid)
                expectContains(error?.message ?? "", words)
            }
            for scope in [nil, bot.name] {
                let error = await #expect(throws: OperationError.self) {
                    _ = try await control.resume(bot: scope, by: "ann")
                }
                #expect(error?.code == .conflict)
            }
            #expect(try await control.state().pauses == Pauses())
        }
    }
}
