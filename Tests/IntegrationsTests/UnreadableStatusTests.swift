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

/// A job whose status is damaged is stopped, and then counts as lost.
@Suite struct UnreadableStatusTests {
    @Test(
        .proves(
            .jobs,
            "A job that cannot be followed is stopped before its attempt is given up, however long that takes, also if its status cannot be read"
        ))
    func testThatOneMoreAttemptIsMadeInAWorkspaceMadeAnew() async throws {
        try await withRunningJob { bot, executor, id in
            // given
            bot.log.expectErrors(containing: "a job failed by a fault of Martlet or its machine")
            let first = AttemptDirectory(path: try #require(executor.starts.first))
            let workspace = try first.job().workspace
            // It is beside the checked-out tree, where no checkout removes it.
            let left = workspace.dropLast("tree".count) + "left"
            try AtomicFile.write([], to: String(left))
            await until("its status") { access(first.paths.status, F_OK) == 0 }

            // when
            try Directory(opening: first.path).write("status.jsonl", bytes: Array("no event\n".utf8))
            await until("the second attempt") {
                bot.timer.advance(by: .seconds(30))
                return executor.starts.count == 2
            }

            // then
            let second = AttemptDirectory(path: try #require(executor.starts.dropFirst().first))
            #expect(access(first.paths.cancel, F_OK) == 0)
            #expect(try second.job().workspace == workspace)
            #expect(access(String(left), F_OK) != 0)
            try await executor.cancel(second, reason: "enough", grace: .zero)
            let integration = try await bot.completion(of: id)
            #expect(integration.attempts.map(\.state.verdict) == [.internalError, .canceled])
        }
    }
}
