import Basics
import BotSupport
import Execution
import Foundation
import Integrations
import JobProtocol
import Model
import Storage
import TestSupport
import Testing

/// The database was lost, or an older copy was restored, and the files beside it were kept.
@Suite(
    .proves(
        .releases,
        "Versions: An integration's number is never used again, even after the database was lost or an older one restored"
    ))
struct LostDatabaseTests {
    private static let files = ["martlet.sqlite", "martlet.sqlite-wal", "martlet.sqlite-shm"]

    /// Removes the database, or restores its state from before the second integration.
    private func lose(_ bot: Bot, putBack older: [String: Data]) throws {
        for file in Self.files {
            let path = "\(bot.state.path)/\(file)"
            try? FileManager.default.removeItem(atPath: path)
            if let bytes = older[file] { try bytes.write(to: URL(fileURLWithPath: path)) }
        }
    }

    /// The numbers that were used are on the disk with their results. A commit that got one of these numbers would get another commit's result.
    @Test(arguments: [false, true])
    func testThatANewCommitGetsANewNumberAndItsOwnResult(isOlder: Bool) async throws {
        try await withBot(configurations: ["debug"]) { bot in
            // given: the second one was green
            expectResult(of: try await bot.integrate(), "succeeded")
            try await bot.stop()
            var older: [String: Data] = [:]
            for file in Self.files where isOlder {
                older[file] = FileManager.default.contents(atPath: "\(bot.state.path)/\(file)")
            }
            try await bot.start()
            let second = try await bot.integrate(Commit(files: ["second": ""]))
            expectResult(of: second, "succeeded")
            #expect(second.record.id.number == 2)
            try await bot.stop()

            // when: the next one is not green
            try lose(bot, putBack: older)
            try await bot.start()
            let next = try await bot.integrate(.failing("debug", at: .building))

            // then
            #expect(next.record.id.number > 2)
            #expect(next.record.commit == (try await bot.work.head()))
            expectVerdict(of: next, .buildErrors)
        }
    }

    /// Directories that retention moved aside and had no time to remove count as well. Numbers of other bots, and names that are no numbers, do
    /// not.
    @Test(arguments: [".removed/kit.41", "kit/41", "kit/41/debug/1"])
    func testThatEachTraceOfANumberUsesItUp(trace: String) async throws {
        try await withBot(configurations: ["debug"]) { bot in
            // given
            try await bot.stop()
            try bot.directory.makeDirectory("state/integrations/\(trace)")
            for other in ["kit/x", "kit/042", "kit/-3", "other/77", ".removed/kit.5.78", "kit/9223372036854775807"] {
                try bot.directory.makeDirectory("state/integrations/\(other)")
            }
            try await bot.start()
            // then
            #expect(try await bot.begin().number == 42)
        }
    }
}
