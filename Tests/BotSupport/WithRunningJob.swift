package import ExecutionSupport
package import Model
import TestSupport
package import Testing

/// `withBot` for a job that has begun and runs until the test decides how it continues. The body gets its integration as the last argument.
package func withRunningJob(
    _ plan: BotPlan = BotPlan(), sourceLocation: SourceLocation = #_sourceLocation,
    _ body: (Bot, ScriptedExecutor, IntegrationID) async throws -> Void
) async throws {
    let executor = ScriptedExecutor()
    var plan = plan
    plan.executor = .scripted(executor)
    try await withBot(plan, sourceLocation: sourceLocation) { bot in
        let id = try await bot.begin()
        await until("the first attempt", sourceLocation: sourceLocation) { executor.starts.count == 1 }
        try await body(bot, executor, id)
    }
}
