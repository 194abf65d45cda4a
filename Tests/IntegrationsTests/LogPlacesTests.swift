import BotSupport
import ExecutionSupport
import JobProtocol
import Model
import Storage
import TestSupport
import Testing

@Suite struct LogPlacesTests {
    private static let plan = BotPlan(
        executor: .scripted(
            ScriptedExecutor { _ in
                .init { _, step in
                    step.step == "building"
                        ? .init(output: "Compiling\nsrc/a.c:7:9: error: no such thing\n", exit: 1) : .init(output: "")
                }
            }))

    @Test(.proves(.reports, "Findings and failing tests link to their line of the log, which marks them"))
    func testThatTheLineOfAnErrorIsStoredWhenItsLogIsRead() async throws {
        try await withBot(Self.plan) { bot in
            // when
            let integration = try await bot.integrate()
            // then
            let attempt = try #require(integration.attempts.first)
            let log = try bot.log(of: attempt).split(separator: "\n", omittingEmptySubsequences: false)
            let line = try #require(log.firstIndex { $0.contains("no such thing") }) + 1
            let places = try await bot.store.logPlaces(of: attempt.id)
            let found = places.filter { $0.category == .error }
            #expect(found.map(\.line) == [line])
            #expect(found.first?.key == .init(subject: "no such thing", path: "src/a.c", line: 7))
        }
    }
}
