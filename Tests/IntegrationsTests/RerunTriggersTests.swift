import BotSupport
import ExecutionSupport
import Integrations
import Model
import Storage
import TestSupport
import Testing

/// `rerun --triggers` of a canceled integration.
@Suite(.proves(.jobs, "Triggers that were canceled run again by `rerun --triggers`, where the jobs have a result"))
struct RerunTriggersTests {
    @Test func testThatThoseOfAnUploadThatWasCanceledRunAgain() async throws {
        try await withBot(configurations: ["debug"], file: BotPlan.uploading) { bot in
            // given
            let id = try await bot.beginUploadWithoutAnswer()
            try await bot.operations.cancel(id, by: "ada")
            let canceled = try await bot.completion(of: id)
            expectVerdict(of: canceled, .canceled)

            // when
            _ = try await bot.operations.rerun(id, Rerun(isTriggersOnly: true), by: "ada")
            let again = try await bot.completion(of: id)

            // then
            expectResult(of: again, "succeeded")
            #expect(again.attempts == canceled.attempts)
            expectTriggers(of: again, ["publish": .succeeded, "office": .succeeded])
            _ = bot.transport.takeRequests()
        }
    }

    @Test func testThatTheyHaveNothingToActOnWhereAJobWasCanceled() async throws {
        try await withBot(BotPlan(file: BotPlan.uploading, executor: .scripted(ScriptedExecutor()))) { bot in
            // given
            let id = try await bot.begin(on: "release/1.0")
            _ = try await bot.attempt(of: id)
            try await bot.operations.cancel(id, by: "ada")
            _ = try await bot.completion(of: id)

            // when
            let error = await expectRejection(OperationError.self, \.code, .conflict) {
                try await bot.operations.rerun(id, Rerun(isTriggersOnly: true), by: "ada")
            }

            // then
            expectContains(error?.message ?? "", "\(id) has no result that triggers could act on")
        }
    }
}
