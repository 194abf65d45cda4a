import Basics
import BotSupport
import Execution
import ExecutionSupport
import Glibc
import Integrations
import JobProtocol
import Model
import Storage
import TestSupport
import Testing

/// Scripts that cannot be started at once, begin too late, or cannot be followed. None is reported as failed while it runs.
@Suite struct TriggerStartTests {
    private func script(_ id: IntegrationID, _ bot: Bot) -> AttemptDirectory {
        AttemptDirectory(path: "\(bot.state.path)/\(StateDirectory.trigger(Name(nearest: "tell"), of: id))/1")
    }

    private func end(_ script: AttemptDirectory, by executor: ScriptedExecutor) async throws {
        await until("its status") { access(script.paths.status, F_OK) == 0 }
        try executor.complete(script)
    }

    /// Advances the time until an integration has ended.
    private func passTime(untilTheEndOf id: IntegrationID, _ bot: Bot) async throws {
        try await until("its end") {
            bot.timer.advance(by: .seconds(30))
            return try await bot.store.integration(id)?.state.verdict != nil
        }
    }

    @Test(
        .proves(
            .triggers,
            "A trigger's job is started, retried, withdrawn and stopped like a configuration's: none is reported as failed while it runs or could begin"
        ), arguments: [ExecutionError.Code.noLauncher, .notStarted])
    func testThatItWaitsForTheNextLauncher(code: ExecutionError.Code) async throws {
        let executor = RefusingExecutor(refused: "tell", code: code)
        try await withBot(.telling(.other(executor))) { bot in
            // given
            let id = try await bot.begin()
            await until("three tries") {
                bot.timer.advance(by: .seconds(30))
                return executor.refusals.value >= 3
            }
            #expect(try await bot.store.triggers(of: id).map(\.state) == [.running])

            // when
            executor.isRefusing.withLock { $0 = false }
            try await passTime(untilTheEndOf: id, bot)

            // then
            let integration = try await bot.completion(of: id)
            expectTriggers(of: integration, ["tell": .succeeded])
            #expect(integration.triggers.map(\.attempt) == [1])
        }
    }

    @Test(
        .proves(
            .triggers,
            "A trigger's job is started, retried, withdrawn and stopped like a configuration's: none is reported as failed while it runs or could begin"
        ))
    func testThatOneThatBeginsAfterItWasRefusedIsFollowed() async throws {
        let inner = ScriptedExecutor.holding("tell")
        let executor = RefusingExecutor(refused: "tell", code: .noLauncher, startsAt: 2, inner: inner)
        try await withBot(.telling(.other(executor))) { bot in
            // given
            let id = try await bot.begin()
            await until("it runs") {
                bot.timer.advance(by: .seconds(30))
                return inner.starts.count == 2
            }

            // when
            try await end(script(id, bot), by: inner)
            try await passTime(untilTheEndOf: id, bot)

            // then
            let integration = try await bot.completion(of: id)
            expectTriggers(of: integration, ["tell": .succeeded])
            #expect(integration.triggers.map(\.attempt) == [1])
            #expect(executor.refusals.value == 2)
        }
    }

    @Test(
        .proves(
            .triggers,
            "A trigger's job is started, retried, withdrawn and stopped like a configuration's: none is reported as failed while it runs or could begin"
        ))
    func testThatOneThatBeginsAfterItWasGivenUpIsEndedBeforeThatIsSaid() async throws {
        let executor = RefusingExecutor(refused: "tell", startsAt: 10, inner: .holding("tell"))
        try await withBot(.telling(.other(executor))) { bot in
            // when
            let id = try await bot.begin()
            try await passTime(untilTheEndOf: id, bot)

            // then
            let integration = try await bot.completion(of: id)
            expectTriggers(of: integration, ["tell": .failed])
            expectContains(integration.trigger("tell")?.reason ?? "", "no supervisor")
            #expect(executor.refusals.value == 10)
            #expect(try bot.triggerWork(of: id) == [])
            #expect(access(script(id, bot).paths.cancel, F_OK) == 0)
            #expect(try await executor.inner.liveness(of: script(id, bot)) != .running)
        }
    }

    /// The launcher was stopped while the earlier daemon asked it, and continues while the next daemon prepares the script again.
    @Test(
        .proves(
            .triggers,
            "A trigger's job is started, retried, withdrawn and stopped like a configuration's: none is reported as failed while it runs or could begin"
        ))
    func testThatOneThatBeginsWhileItIsPreparedAgainIsFollowedWhereItWorks() async throws {
        let inner = ScriptedExecutor.holding("tell")
        let executor = RefusingExecutor(refused: "tell", code: .noLauncher, inner: inner)
        try await withBot(.telling(.other(executor))) { bot in
            // given
            let id = try await bot.begin()
            await until("the first try") { executor.refusals.value == 1 }
            try await bot.stop()

            // when
            executor.countdown.withLock { $0 = 1 }
            try await bot.start()
            await until("it runs") { inner.starts.count == 2 }
            let script = script(id, bot)

            // then
            let workspace = try script.job().workspace
            try await end(script, by: inner)
            let integration = try await bot.completion(of: id)
            expectTriggers(of: integration, ["tell": .succeeded])
            #expect(executor.refusals.value == 1)
            expectContains(workspace, ".work/1/")
        }
    }

    @Test(
        .proves(
            .triggers,
            "A trigger's job is started, retried, withdrawn and stopped like a configuration's: none is reported as failed while it runs or could begin"
        ))
    func testThatOneThatCannotBeFollowedIsStoppedBeforeItIsGivenUp() async throws {
        let executor = ScriptedExecutor.holding("tell")
        try await withBot(.telling(.scripted(executor))) { bot in
            // given
            let id = try await bot.begin()
            await until("the script") { executor.starts.count == 2 }
            let script = script(id, bot)
            await until("its status") { access(script.paths.status, F_OK) == 0 }

            // when
            try Directory(opening: script.path).write("status.jsonl", bytes: Array("no event\n".utf8))
            try await passTime(untilTheEndOf: id, bot)

            // then
            expectTriggers(of: try await bot.completion(of: id), ["tell": .failed])
            #expect(access(script.paths.cancel, F_OK) == 0)
            #expect(try await executor.liveness(of: script) != .running)
        }
    }

    /// The operator removes the script while it runs.
    @Test(
        .proves(
            .triggers,
            "A trigger's job is started, retried, withdrawn and stopped like a configuration's: none is reported as failed while it runs or could begin"
        ))
    func testThatOneThatRunsIsFollowedThoughItIsNotThereAnyMore() async throws {
        let executor = ScriptedExecutor.holding("tell")
        try await withBot(.telling(.scripted(executor))) { bot in
            // given
            let id = try await bot.begin()
            await until("the script") { executor.starts.count == 2 }
            try await bot.stop()
            try bot.directory.directory().remove("triggers/tell")

            // when
            try await bot.start()
            try await end(script(id, bot), by: executor)

            // then
            expectTriggers(of: try await bot.completion(of: id), ["tell": .succeeded])
        }
    }

    /// A killed daemon left the one; the other's script runs.
    @Test(
        .proves(
            .triggers,
            "What a trigger's job worked in goes with its end, however it ends; what a killed daemon left goes at the next start"
        ))
    func testThatWhatOneWorkedInIsRemovedAtTheNextStartUnlessItRuns() async throws {
        let executor = ScriptedExecutor.holding("tell")
        try await withBot(.telling(.scripted(executor))) { bot in
            // given
            let id = try await bot.begin()
            await until("the script") { executor.starts.count == 2 }
            try await bot.stop()
            let gone = IntegrationID(bot: bot.name, number: id.number + 1)
            for left in ["_trigger-tell/1.work/1/source", "trigger-tell/1.work/source"] {
                try Directory(opening: bot.state.integrations).makeDirectories("\(gone.bot)/\(gone.number)/\(left)")
            }

            // when: they are checked in order
            try await bot.start()
            await until("what is left is removed") {
                ["_trigger-tell/1.work", "trigger-tell/1.work"].allSatisfy {
                    access("\(bot.state.integration(gone))/\($0)", F_OK) != 0
                }
            }

            // then
            #expect(try bot.triggerWork(of: id) == ["_trigger-tell/1.work"])
            #expect(access(try script(id, bot).job().workspace, F_OK) == 0)
            try await end(script(id, bot), by: executor)
            expectTriggers(of: try await bot.completion(of: id), ["tell": .succeeded])
            #expect(try bot.triggerWork(of: id) == [])
        }
    }
}
