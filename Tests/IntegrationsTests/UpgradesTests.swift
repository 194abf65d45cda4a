import BotSupport
import Model
import Storage
import TestSupport
import Testing

@testable import Integrations

@Suite struct UpgradesTests {
    private static let noon = Timestamp(millisecondsSinceEpoch: 1_772_366_400_000)

    /// Runs a test with bots whose repositories were scanned, except `blank`'s.
    private func withBots(
        _ bots: [String: String], branches: [String] = ["main", "release/1.0", "topic"],
        _ body: (Core, Locked<String?>) async throws -> Void
    ) async throws {
        try await withCore(bots: bots) { core in
            for request in try await core.store.repositoriesToScan() where !request.repository.contains("blank") {
                var heads = [RefName(tag: "1.0.0"): try Samples.commit(99)]
                for (number, branch) in branches.enumerated() {
                    heads[RefName(branch: branch)] = try Samples.commit(number + 1)
                }
                _ = try await core.store.apply(
                    RefScan(
                        request: request, heads: heads, defaultBranch: RefName(branch: "main"), at: Self.noon,
                        cause: .poll, watchers: []))
            }
            try await body(core, Locked("6.3.0"))
        }
    }

    /// Returns the upgrades as a daemon has them from its start on.
    private func upgrades(_ core: Core, _ version: Locked<String?>) -> Upgrades {
        Upgrades(
            store: core.store, registry: core.registry, clock: core.time.clock, timer: core.timer,
            logger: core.log.logger, version: { version.value })
    }

    /// Returns `BOT#NUMBER REF`, oldest first.
    private func all(_ core: Core) async throws -> [String] {
        try await core.store.integrations(limit: 200).items.reversed().map { "\($0.id) \($0.ref.shortName)" }
    }

    @Test(
        .proves(
            .intake,
            "Another version of the machine's `swift` integrates each watched branch's tip again, once, except for the first version; all views show both versions"
        ))
    func testThatAnotherVersionIntegratesEachWatchedTipOnceWithBothVersionsSaid() async throws {
        try await withBots(["kit": "", "other": "branches: [topic]\ntags: [\"*\"]\n", "blank": ""]) { core, version in
            // given: the first version is only recorded
            try await upgrades(core, version).queueDue()
            #expect(try await all(core).isEmpty)
            // when
            version.withLock { $0 = "6.3.1" }
            try await upgrades(core, version).queueDue()
            // then
            #expect(try await all(core) == ["kit#1 main", "kit#2 release/1.0", "other#1 topic"])
            let queued = try await core.store.integrations().items
            #expect(queued.allSatisfy { $0.cause == .upgrade && $0.state == .queued })
            for id in queued.map(\.id) { #expect(try await core.store.integration(id)?.isClean == true) }
            #expect(Set(queued.map(\.requestedBy)) == ["Swift 6.3.0 → 6.3.1"])
            let event = try #require(try await core.store.deliveries().items.first)
            #expect(event.source == .upgrade && event.outcome == .integrated)
            #expect(event.reason == "other#1, asked for by another toolchain, Swift 6.3.0 → 6.3.1")
            // when: it is checked again, also by another daemon
            for _ in 1...2 { try await upgrades(core, version).queueDue() }
            // then
            #expect(try await all(core).count == 3)
        }
    }

    @Test(
        .proves(
            .intake,
            "A toolchain's upgrade integrates each tip once, also through kills and failed writes; a newer version or commit supersedes a waiting one"
        ))
    func testThatADaemonThatWasKilledInBetweenIsFollowedByOneThatGoesOn() async throws {
        let branches = (10..<10 + Upgrades.batch + 5).map { "b\($0)" }
        try await withBots(["kit": "branches: [\"b*\"]\n"], branches: branches) { core, version in
            // given: some are queued
            try await upgrades(core, version).queueDue()
            let kit = try Samples.name("kit")
            let first = NewIntegration(
                bot: kit, ref: RefName(branch: "b10"), commit: try Samples.commit(1), cause: .upgrade)
            _ = try await core.store.takeUp(
                ToolchainMark(bot: kit, version: "6.3.0", next: "6.3.1", reached: RefName(branch: "b10")),
                queueing: [first], at: Self.noon
            ) { .caused($0, by: .upgrade, named: "test", at: Self.noon) }
            version.withLock { $0 = "6.3.1" }
            // when
            try await upgrades(core, version).queueDue()
            try await upgrades(core, version).queueDue()
            // then
            #expect(try await all(core).map { $0.split(separator: " ")[1] } == branches.map { $0[...] })
        }
    }

    @Test(
        .proves(
            .intake,
            "A toolchain's upgrade integrates each tip once, also through kills and failed writes; a newer version or commit supersedes a waiting one"
        ))
    func testThatNoTipIsLostOrDoubledByAWriteThatFails() async throws {
        let branches = (10..<10 + 2 * Upgrades.batch + 5).map { "b\($0)" }
        try await withBots(["kit": "branches: [\"b*\"]\n"], branches: branches) { core, version in
            try await upgrades(core, version).queueDue()
            version.withLock { $0 = "6.3.1" }
            // given: the row after the fifteenth cannot be stored
            try await core.sql(
                "CREATE TRIGGER broken BEFORE INSERT ON integrations WHEN NEW.number = 16 BEGIN SELECT RAISE(ABORT, 'broken'); END"
            )
            await #expect(throws: StoreError.self) { try await upgrades(core, version).queueDue() }
            #expect(try await all(core).count == Upgrades.batch)
            // when
            try await core.sql("DROP TRIGGER broken")
            try await upgrades(core, version).queueDue()
            // then
            #expect(try await all(core).map { $0.split(separator: " ")[1] } == branches.map { $0[...] })
        }
    }

    @Test(
        .proves(
            .intake,
            "A toolchain's upgrade integrates each tip once, also through kills and failed writes; a newer version or commit supersedes a waiting one"
        ))
    func testThatWhatWaitsForAnOlderVersionIsSupersededAndWhatRunsIsNot() async throws {
        try await withBots(["kit": "supersede: never\n"]) { core, version in
            // given: main's runs, release/1.0's waits
            try await upgrades(core, version).queueDue()
            version.withLock { $0 = "6.3.1" }
            try await upgrades(core, version).queueDue()
            let kit = try Samples.name("kit")
            try await core.store.apply(.started, to: IntegrationID(bot: kit, number: 1), at: Self.noon)
            // when
            version.withLock { $0 = "6.3.2" }
            try await upgrades(core, version).queueDue()
            // then
            #expect(try await all(core).count == 4)
            let older = try #require(try await core.store.integration(IntegrationID(bot: kit, number: 2)))
            #expect(older.state.verdict == .canceled && older.supersededBy?.number == 4)
            #expect(older.reason == "superseded by kit#4, of a newer toolchain")
            #expect(try await core.store.integration(IntegrationID(bot: kit, number: 1))?.state.verdict == nil)
        }
    }

    @Test(
        .proves(
            .intake,
            "A toolchain's upgrade integrates each tip once, also through kills and failed writes; a newer version or commit supersedes a waiting one"
        ))
    func testThatAPushThatWaitsForTheSameCommitBecomesTheUpgrades() async throws {
        try await withBots(["kit": ""]) { core, version in
            // given: main's tip waits
            try await upgrades(core, version).queueDue()
            let kit = try Samples.name("kit")
            _ = try await core.store.queue(
                NewIntegration(bot: kit, ref: RefName(branch: "main"), commit: try Samples.commit(1), cause: .push),
                at: Self.noon)
            // when
            version.withLock { $0 = "6.3.1" }
            try await upgrades(core, version).queueDue()
            // then
            #expect(try await all(core) == ["kit#1 main", "kit#2 release/1.0"])
            let first = try #require(try await core.store.integration(IntegrationID(bot: kit, number: 1)))
            #expect(first.cause == .upgrade && first.isClean && first.requestedBy == "Swift 6.3.0 → 6.3.1")
        }
    }

    @Test(
        .proves(
            .intake,
            "A toolchain's upgrade integrates each tip once, also through kills and failed writes; a newer version or commit supersedes a waiting one"
        ))
    func testThatWhatIsStillToBeLookedAtIsWaitedForUnlessItCannotBe() async throws {
        try await withBots(["kit": ""]) { core, version in
            // given
            #expect(try await upgrades(core, version).queueDue() == false)
            version.withLock { $0 = "6.3.1" }
            try await core.store.requestScans(at: [core.repository()])
            // when, then
            #expect(try await upgrades(core, version).queueDue())
            #expect(try await all(core).isEmpty)
            // when
            let request = try #require(try await core.store.repositoriesToScan().first)
            try await core.store.scanFailed(request, reason: "away", at: Self.noon)
            // then
            #expect(try await upgrades(core, version).queueDue() == false)
            #expect(try await all(core).count == 2)
        }
    }

    @Test(
        .proves(
            .intake,
            "A toolchain's upgrade integrates each tip once, also through kills and failed writes; a newer version or commit supersedes a waiting one"
        ), arguments: [Cause.upgrade, .schedule])
    func testThatATipThatHasMovedMeanwhileIsLeftToItsPush(cause: Cause) async throws {
        try await withBots(["kit": ""]) { core, _ in
            // given: it was read before a scan stored another
            let kit = try Samples.name("kit")
            let tips = try [("main", 7), ("release/1.0", 2), ("gone", 1)].map { branch, commit in
                NewIntegration(
                    bot: kit, ref: RefName(branch: branch), commit: try Samples.commit(commit), cause: cause)
            }
            // when
            let queued =
                cause == .upgrade
                ? try await core.store.takeUp(ToolchainMark(bot: kit, version: "6.3.1"), queueing: tips, at: Self.noon)
                {
                    .caused($0, by: .upgrade, named: "test", at: Self.noon)
                }
                : try await core.store.takeUp(
                    ScheduleMark(bot: kit, schedule: "daily", takenUp: Self.noon), queueing: tips, at: Self.noon
                ) { .caused($0, by: .schedule, named: "test", at: Self.noon) }
            // then
            #expect(queued.map(\.ref.shortName) == ["release/1.0"])
            #expect(try await all(core) == ["kit#1 release/1.0"])
        }
    }

    @Test(
        .proves(
            .intake,
            "A toolchain's upgrade integrates each tip once, also through kills and failed writes; a newer version or commit supersedes a waiting one"
        ), arguments: ["", "supersede: never\n"])
    func testThatANewerCommitSupersedesOneThatWaits(lines: String) async throws {
        try await withBots(["kit": lines]) { core, version in
            try await upgrades(core, version).queueDue()
            version.withLock { $0 = "6.3.1" }
            try await upgrades(core, version).queueDue()
            // when
            try await core.store.requestScans(at: [core.repository()])
            let request = try #require(try await core.store.repositoriesToScan().first)
            let bot = try #require(await core.registry.all().first)
            let main = RefName(branch: "main")
            func scan(_ head: Int) async throws {
                _ = try await core.store.apply(
                    RefScan(
                        request: request, heads: [main: try Samples.commit(head)], defaultBranch: main, at: Self.noon,
                        cause: .push,
                        watchers: [
                            Watcher(
                                bot: bot.name, patterns: "main", watches: { $0 == main }, isRelease: { _ in false },
                                supersede: { bot.supersede(on: $0) })
                        ]))
            }
            try await scan(7)
            try await core.store.requestScans(at: [core.repository()])
            // then
            let first = try #require(try await core.store.integrations().items.last)
            #expect(first.cause == .upgrade && first.state.verdict == .canceled)
            expectContains(first.reason ?? "", "a newer commit of main")
        }
    }

    @Test(
        .proves(
            .intake,
            "A toolchain's upgrade is not integrated with `upgrades: false`, is never skipped by `paths` or `[skip ci]`, and runs after commits and before schedules"
        ), arguments: ["", "upgrades: false\n"])
    func testThatOneTakenBackOrNotWantedChangesNothing(_ lines: String) async throws {
        try await withBots(["kit": lines]) { core, version in
            try await upgrades(core, version).queueDue()
            // when: it is missing for a moment
            version.withLock { $0 = nil }
            try await upgrades(core, version).queueDue()
            version.withLock { $0 = lines.isEmpty ? "6.3.0" : "6.3.1" }
            try await upgrades(core, version).queueDue()
            // then
            #expect(try await all(core).isEmpty)
        }
    }

    @Test(
        .proves(
            .intake,
            "A toolchain's upgrade is not integrated with `upgrades: false`, is never skipped by `paths` or `[skip ci]`, and runs after commits and before schedules"
        ))
    func testThatABotThatIsNewMeetsTheVersionThatThereIs() async throws {
        try await withBots(["kit": ""]) { core, version in
            try await upgrades(core, version).queueDue()
            version.withLock { $0 = "6.3.1" }
            // when
            try core.directory.write("bots/new.yml", "repository: \(core.repository())\n")
            await core.registry.reload()
            try await core.store.register(await core.registry.all(), at: Self.noon)
            let request = try #require(try await core.store.repositoriesToScan().first)
            let heads = try await core.store.heads(of: core.repository())
            _ = try await core.store.apply(
                RefScan(
                    request: request, heads: heads, defaultBranch: RefName(branch: "main"), at: Self.noon, cause: .poll,
                    watchers: []))
            try await upgrades(core, version).queueDue()
            // then
            #expect(try await all(core) == ["kit#1 main", "kit#2 release/1.0"])
            version.withLock { $0 = "6.3.2" }
            try await upgrades(core, version).queueDue()
            #expect(try await all(core).suffix(2) == ["new#1 main", "new#2 release/1.0"])
        }
    }

    @Test(
        .proves(
            .intake,
            "Another version of the machine's `swift` integrates each watched branch's tip again, once, except for the first version; all views show both versions"
        ))
    func testThatItAsksAtTheStartAndAfterEachInterval() async throws {
        try await withBots(["kit": ""]) { core, version in
            let asked = Locked(0)
            let upgrades = Upgrades(
                store: core.store, registry: core.registry, clock: core.time.clock, timer: core.timer,
                logger: core.log.logger
            ) {
                asked.withLock { $0 += 1 }
                return version.value
            }
            let task = Task { await upgrades.run() }
            await core.timer.awaitSleepers()
            #expect(asked.value == 1)
            core.timer.advance(by: Upgrades.interval - .seconds(1))
            #expect(asked.value == 1)
            // when
            version.withLock { $0 = "6.3.1" }
            core.timer.advance(by: .seconds(1))
            await until("the next time") { asked.value == 2 }
            await core.timer.awaitSleepers()
            task.cancel()
            await task.value
            // then
            let queued = try await all(core)
            #expect(queued.count == 2)
        }
    }
}
