import Basics
import BotSupport
import Execution
import Integrations
import Model
import Storage
import TestSupport
import Testing

/// Submodules are fetched before any job, and read by jobs.
@Suite(
    .proves(.sourceControl, "Submodules are fetched before any job, in the time and bytes of one fetch; jobs read them")
)
struct SubmodulePreparationTests {
    /// Runs a test with a bot whose repository has the submodule `lib` beside it.
    private func withSubmodule(_ body: (Bot, GitRepository) async throws -> Void) async throws {
        try await withBot(configurations: ["debug"]) { bot in
            let library = try await GitRepository.make(at: bot.directory.path("lib.git"))
            let commit = try await library.commit(files: ["lib.c": "int lib;\n"])
            let modules = "[submodule \"lib\"]\n\tpath = lib\n\turl = ../lib.git\n"
            try await bot.push(Commit(files: [".gitmodules": modules]))
            try await bot.work.git("update-index", "--add", "--cacheinfo", "160000,\(commit),lib")
            try await bot.work.git(["commit", "-q", "-m", "Link"], date: Timestamp(secondsSinceEpoch: 1_767_300_000))
            try await bot.work.push(to: bot.remote)
            try await body(bot, library)
        }
    }

    private func integrate(_ bot: Bot) async throws -> Integrated {
        let record = try await bot.operations.integrate(bot: bot.name, revision: nil, isClean: false, by: "ada")
        return try await bot.completion(of: record.id)
    }

    @Test func testThatOneThatIsNotToBeHadEndsTheIntegrationBeforeAnyJob() async throws {
        try await withSubmodule { bot, library in
            // given
            try Directory(opening: bot.directory.path).remove("lib.git")

            // when
            let integration = try await integrate(bot)

            // then
            expectVerdict(of: integration, .checkoutError, because: "fetch of the submodule lib failed")
            #expect(integration.attempts.isEmpty)
        }
    }

    @Test func testThatOneThatIsHereIsNotAskedForAgain() async throws {
        try await withSubmodule { bot, library in
            // given
            expectResult(of: try await integrate(bot), "succeeded")
            try Directory(opening: bot.directory.path).remove("lib.git")

            // when
            let integration = try await integrate(bot)

            // then
            expectResult(of: integration, "succeeded")
            let file = bot.state.workspaces + "/kit/debug"
            let found = try await runExpectingSuccess(["find", file, "-name", "lib.c"])
            expectContains(found, "lib/lib.c")
        }
    }
}
