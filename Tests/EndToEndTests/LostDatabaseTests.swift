import Basics
import BotSupport
import Foundation
import Integrations
import JobProtocol
import Model
import Storage
import TestSupport
import Testing

/// The database was lost, or an older copy was put back, and what lies beside it was kept.
@Suite struct LostDatabaseTests {
    private static let files = ["martlet.sqlite", "martlet.sqlite-wal", "martlet.sqlite-shm"]

    /// Takes the database away, or puts back what it was before the second integration.
    private func lose(_ bot: Bot, putBack older: [String: Data]) throws {
        for file in Self.files {
            let path = "\(bot.state.path)/\(file)"
            try? FileManager.default.removeItem(atPath: path)
            if let bytes = older[file] { try bytes.write(to: URL(fileURLWithPath: path)) }
        }
    }

    /// The numbers that were given lie on the disk, with what came of them: a commit that came to one of these would be told another's result.
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

            // when: the next one is not
            try lose(bot, putBack: older)
            try await bot.start()
            let next = try await bot.integrate(.failing("debug", at: .building))

            // then
            #expect(next.record.id.number > 2)
            #expect(next.record.commit == (try await bot.work.head()))
            expectVerdict(of: next, .buildErrors)
        }
    }

    /// What retention moved aside and had no time to remove is one, too; numbers of others, and what is no number, are none.
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
