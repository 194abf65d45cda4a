import Basics
import BotSupport
import Execution
import Glibc
import Integrations
import Model
import Storage
import TestSupport
import Testing

/// Retention of a bot in use: rows, directories and held commits are removed, and what is in use stays.
@Suite struct RetentionTests {
    /// Returns the integrations whose commits the bot's mirror holds.
    private static func held(_ bot: Bot) async throws -> [Int] {
        let mirrors = try Directory(opening: bot.state.repositories).entries()
        let mirror = try #require(mirrors.first?.name)
        let listed = try await runExpectingSuccess([
            "git", "--git-dir", "\(bot.state.repositories)/\(mirror)", "for-each-ref", "--format=%(refname:lstrip=3)",
            "refs/martlet",
        ])
        return listed.split(separator: "\n").compactMap { Int($0) }.sorted()
    }

    /// Returns the integrations that have a directory.
    private static func directories(_ bot: Bot) throws -> [Int] {
        try Directory(opening: "\(bot.state.integrations)/\(bot.name)").entries().compactMap { Int($0.name) }.sorted()
    }

    private static func shown(_ bot: Bot) async throws -> [Int] {
        try await bot.store.integrations(IntegrationFilter(bot: bot.name)).items.map(\.id.number).sorted()
    }

    /// Waits until all files of the removed integrations are gone.
    private static func settled(_ bot: Bot) async {
        await until("what was removed is gone") {
            let rows = try? await bot.store.removedIntegrations()
            let aside = try? Directory(opening: bot.state.integrations + "/.removed").entries()
            return rows?.isEmpty == true && aside?.isEmpty != false
        }
    }

    private static func pass(_ duration: Duration, _ bot: Bot) async {
        await bot.timer.awaitSleepers(Bot.restingSleepers)
        bot.time.advance(by: duration)
        bot.timer.advance(by: duration)
    }

    private static let two = BotPlan(file: "retention: { integrations: 2 }\n")

    @Test(
        .proves(
            .releases,
            "Versions: Retention removes rows, files and held commit together; a kill leaves nothing half visible, and the next start finishes"
        ))
    func testThatOldIntegrationsGoWithRowsFilesAndHeldCommits() async throws {
        try await withBot(Self.two) { bot in
            // given
            for number in 1...5 { try await bot.integrate(Commit(files: ["file": "\(number)"])) }
            #expect(try Self.directories(bot) == [1, 2, 3, 4, 5])
            try await until("all commits are held") { try await Self.held(bot) == [1, 2, 3, 4, 5] }
            // when
            await Self.pass(RetentionService.interval, bot)
            try await bot.wait("the removal") { store in
                try await store.removal(of: IntegrationID(bot: bot.name, number: 3))
            }
            await Self.settled(bot)
            // then
            #expect(try await Self.shown(bot) == [4, 5])
            #expect(try Self.directories(bot) == [4, 5])
            #expect(try await Self.held(bot) == [4, 5])
            let removal = try await bot.store.removal(of: IntegrationID(bot: bot.name, number: 1))
            #expect(removal?.reason == "more than the 2 newest")
            // The next one has the next number, and is compared with the one before
            let next = try await bot.integrate(.failing("debug"))
            #expect(next.id.number == 6)
            #expect(next.summary.change.testFailures == 1)
        }
    }

    @Test(
        .proves(
            .releases,
            "Versions: `martlet prune --dry-run` says why each thing stays or goes, and `prune` does that; open downloads finish, then 410 says when and why (R5)"
        ))
    func testThatADryRunRemovesNothingAndSaysWhy() async throws {
        try await withBot(Self.two) { bot in
            // given
            for number in 1...3 { try await bot.integrate(Commit(files: ["file": "\(number)"])) }
            // when
            let report = try await bot.operations.prune(isDry: true, bot: nil)
            // then
            let said = report.items.map { "\($0.goes ? "goes" : "stays") \($0.row.id): \($0.reason)" }
            #expect(
                said == [
                    "stays kit#3: the newest of the bot", "stays kit#2: within the limits",
                    "goes kit#1: more than the 2 newest",
                ])
            #expect(report.items.allSatisfy { ($0.row.disk?.files ?? 0) > 3 && ($0.row.disk?.bytes ?? 0) > 100 })
            #expect(try await Self.shown(bot) == [1, 2, 3])
            #expect(try Self.directories(bot) == [1, 2, 3])
            // Exactly that is then done
            let done = try await bot.operations.prune(isDry: false, bot: nil)
            #expect(done.items.map { "\($0.goes ? "goes" : "stays") \($0.row.id): \($0.reason)" } == said)
            await Self.settled(bot)
            #expect(try Self.directories(bot) == [2, 3])
        }
    }

    @Test(
        .proves(
            .releases,
            "Versions: `retention:` by number, age, bytes and files, in the settings and, key by key, in a bot file; without it nothing goes"
        ))
    func testThatWithoutRetentionNothingIsRemoved() async throws {
        try await withBot(BotPlan()) { bot in
            for number in 1...3 { try await bot.integrate(Commit(files: ["file": "\(number)"])) }
            _ = try await bot.operations.prune(isDry: false, bot: nil)
            bot.time.advance(by: .seconds(400 * 86_400))
            #expect(try await bot.operations.prune(isDry: false, bot: nil).items.allSatisfy { !$0.goes })
            #expect(try Self.directories(bot) == [1, 2, 3])
        }
    }

    @Test(
        .proves(
            .releases,
            "Versions: the newest green integration of a branch, published and running ones are kept, and whatever else is in use (R5)"
        ))
    func testR5ThatWhatAVersionWasMadeByStaysAndTheVersionIsUntouched() async throws {
        let plan = BotPlan(file: BotPlan.publishing + "retention: { integrations: 1 }\n")
        try await withBot(plan) { bot in
            // given: two versions of a removed branch, and newer integrations of another
            for number in 1...2 {
                let made = try await bot.integrate(
                    Commit(files: ["products/tool": "\(number)"]), on: "release/1.4")
                #expect(made.trigger("publish")?.state == .succeeded)
            }
            try await bot.integrate(on: "main")
            try await bot.integrate(Commit(files: ["file": "2"]), on: "main")
            let before = try bot.publishedFile("SHA256SUMS", of: "1.4.0")
            // when
            let report = try await bot.operations.prune(isDry: false, bot: nil)
            await Self.settled(bot)
            // then
            #expect(try await Self.shown(bot) == [1, 2, 4])
            #expect(try Self.directories(bot) == [1, 2, 4])
            #expect(report.items.first { $0.row.id.number == 1 }?.reason == "it made kit 1.4.0")
            #expect(report.versions.map(\.count) == [2])
            #expect(try bot.publishedFile("SHA256SUMS", of: "1.4.0") == before)
            try await expectPublished(by: bot, ["1.4.0", "1.4.1"])
        }
    }

    @Test(
        .proves(
            .releases,
            "Versions: `martlet prune --dry-run` says why each thing stays or goes, and `prune` does that; open downloads finish, then 410 says when and why (R5)"
        ))
    func testR5ThatAFileThatIsOpenIsReadToItsEnd() async throws {
        try await withBot(Self.two) { bot in
            // given
            for number in 1...3 {
                try await bot.integrate(Commit(files: ["file": "\(number)", "products/tool": "tool"]))
            }
            let first = try await Integrated(
                try #require(try await bot.store.integration(IntegrationID(bot: bot.name, number: 1))), store: bot.store
            )
            let artifact = try #require(first.artifacts.first)
            let path = bot.state.attempt(first.id, job: artifact.attempt.job, attempt: 1) + "/archives"
            let opened = try Directory(opening: path).openForReading(artifact.artifact.path)
            defer { close(opened) }
            // when
            _ = try await bot.operations.prune(isDry: false, bot: nil)
            await Self.settled(bot)
            // then
            #expect(access(path, F_OK) != 0)
            var buffer = [UInt8](repeating: 0, count: Int(artifact.artifact.size.bytes) + 1)
            #expect(read(opened, &buffer, buffer.count) == Int(artifact.artifact.size.bytes))
        }
    }

    @Test(
        .proves(
            .releases,
            "Versions: Retention removes rows, files and held commit together; a kill leaves nothing half visible, and the next start finishes"
        ))
    func testThatWhatAStopLeftIsGoneAfterTheNextStart() async throws {
        try await withBot(Self.two) { bot in
            // given: one whose rows are removed and whose files are not, and files that were moved aside
            for number in 1...4 { try await bot.integrate(Commit(files: ["file": "\(number)"])) }
            let rows = try await bot.store.retentionRows(of: bot.name).filter { $0.holder == nil }
            _ = try await bot.store.remove(rows.suffix(1).map { ($0, "of the test") }, of: bot.name, at: bot.time.now)
            #expect(try await Self.shown(bot) == [2, 3, 4])
            try await bot.stop()
            let aside = bot.state.integrations + "/.removed/kit.77/debug/1"
            _ = try Directory(creating: aside)
            try AtomicFile.write(Array("log".utf8), to: aside + "/log")
            // when
            try await bot.start()
            await Self.settled(bot)
            // then
            #expect(try Self.directories(bot) == [2, 3, 4])
            #expect(try await Self.held(bot) == [2, 3, 4])
            #expect(access(bot.state.integrations + "/.removed/kit.77", F_OK) != 0)
        }
    }

    @Test(
        .proves(
            .releases,
            "Versions: Retention removes rows, files and held commit together; a kill leaves nothing half visible, and the next start finishes"
        ))
    func testThatADirectoryThatIsGoneAlreadyHoldsUpNothing() async throws {
        try await withBot(Self.two) { bot in
            for number in 1...3 { try await bot.integrate(Commit(files: ["file": "\(number)"])) }
            try Directory(opening: bot.state.integrations).remove("kit/1")
            _ = try await bot.operations.prune(isDry: false, bot: nil)
            await Self.settled(bot)
            #expect(try await Self.shown(bot) == [2, 3])
        }
    }

    @Test(.proves(.releases, "Versions: a clock that jumps prunes nothing early (C1)"))
    func testC1ThatAClockThatJumpsAYearAheadRemovesNothing() async throws {
        try await withBot(BotPlan(file: "retention: { age: 90d }\n")) { bot in
            // given: a round with the right time
            for number in 1...3 { try await bot.integrate(Commit(files: ["file": "\(number)"])) }
            await Self.pass(RetentionService.interval, bot)
            try await bot.wait("the first round") { store in
                // Reading the clock changes nothing.
                let counted = try await store.advanceRetentionClock(to: bot.time.now, atMost: .zero)
                return bot.time.now - counted < .seconds(60) ? true : nil
            }
            // when: the clock is a year ahead, for five rounds
            bot.time.advance(by: .seconds(365 * 86_400))
            for _ in 1...5 {
                await Self.pass(RetentionService.interval, bot)
                let counted = try await bot.operations.prune(isDry: false, bot: nil).countedTo
                #expect(bot.time.now - (try #require(counted)) > .seconds(360 * 86_400))
            }
            // then
            #expect(try await Self.shown(bot) == [1, 2, 3])
        }
    }

    @Test(
        .proves(
            .releases,
            "Versions: `retention:` by number, age, bytes and files, in the settings and, key by key, in a bot file; without it nothing goes"
        ))
    func testThatAgeCountsOnAsTimePasses() async throws {
        try await withBot(BotPlan(file: "retention: { age: 3h }\n")) { bot in
            for number in 1...3 { try await bot.integrate(Commit(files: ["file": "\(number)"])) }
            // when: rounds of an hour each
            for _ in 1...5 {
                await Self.pass(RetentionService.interval, bot)
                _ = try await bot.operations.prune(isDry: true, bot: nil)
            }
            try await bot.wait("the removal") { store in
                try await store.removal(of: IntegrationID(bot: bot.name, number: 2))
            }
            await Self.settled(bot)
            // then: the newest is kept, however old it is
            #expect(try await Self.shown(bot) == [3])
            #expect(
                try await bot.store.removal(of: IntegrationID(bot: bot.name, number: 1))?.reason == "older than 3h")
        }
    }
}
