import Basics
import BotSupport
import Execution
import ExecutionSupport
import Model
import Settings
import Storage
import TestSupport
import Testing
import martlet

@testable import Integrations

/// Renaming, deleting and cleaning bots, with a service that runs, a real mirror and real files.
@Suite struct BotCareTests {
    private static let core = Name(nearest: "core")

    private static func held(_ bot: Bot) async throws -> [String] {
        let mirrors = try Directory(opening: bot.state.repositories).entries()
        guard let mirror = mirrors.first?.name else { return [] }
        return try await runExpectingSuccess([
            "git", "--git-dir", "\(bot.state.repositories)/\(mirror)", "for-each-ref", "--format=%(refname)",
            "refs/martlet",
        ]).split(separator: "\n").map(String.init)
    }

    private static func entries(_ path: String) -> [String] {
        ((try? Directory(opening: path).entries()) ?? []).map(\.name).sorted()
    }

    @Test(
        .proves(
            .programs,
            "`martlet bot NAME --rename NEW` keeps the history, with files, held commits and published versions"))
    func testThatARenamedBotKeepsItsHistory() async throws {
        try await withBot(BotPlan(file: BotPlan.publishing)) { bot in
            // given
            let done = try await bot.integrate(on: "release/1.0")
            try await until("its commit is held") { try await Self.held(bot) == ["refs/martlet/kit/1"] }
            try await bot.retire()
            // when
            try await bot.operations.care.rename(bot.name, to: Self.core, by: "ann")
            // then
            let id = IntegrationID(bot: Self.core, number: done.record.id.number)
            let record = try #require(try await bot.store.integration(id))
            #expect(record.commit == done.record.commit && record.state == done.record.state)
            #expect(try await bot.store.integration(done.record.id) == nil)
            #expect(try await bot.store.bot(bot.name) == nil)
            #expect(try await bot.store.bot(formerly: bot.name) == Self.core)
            #expect(Self.entries(bot.state.integrations).filter { !$0.hasPrefix(".") } == ["core"])
            #expect(try await Self.held(bot) == ["refs/martlet/core/1"])
            #expect(Self.entries(bot.state.workspaces) == [])
            let version = try #require(try await bot.store.versions(of: bot.name).first)
            #expect(version.integration == id && version.state == .published)
            let attempt = try #require(try await bot.store.attempts(of: id).first)
            #expect(Self.entries(bot.directory(of: attempt).path).contains("status.jsonl"))
            // when: the file comes back under the new name
            try bot.directory.write(
                "bots/core.yml", "repository: \(bot.remote.path)\npoll: off\nproduct: kit\n\(BotPlan.publishing)")
            bot.timer.advance(by: .seconds(2))
            try await bot.wait("the bot with its file") { store in
                try await store.bot(Self.core)?.isRetired == false ? true : nil
            }
            // then: nothing is integrated twice, and numbers go on
            let next = try await bot.operations.integrate(
                bot: Self.core, revision: "release/1.0", isClean: false, by: "ann")
            #expect(next.id.number == 2)
        }
    }

    @Test(
        .proves(
            .badInput, "A rename to a name that exists, or of a bot with a file or a running integration, is refused"))
    func testThatAWrongRenameIsRefused() async throws {
        try await withRunningJob { bot, executor, id in
            func refusal(_ name: Name, to new: Name) async -> OperationError? {
                await #expect(throws: OperationError.self) {
                    try await bot.operations.care.rename(name, to: new, by: "ann")
                }
            }
            // when, then: its file is there
            let there = await refusal(bot.name, to: Self.core)
            #expect(there?.code == .conflict)
            expectContains(there?.message ?? "", "the file of the bot kit is there")
            // An integration runs
            try await bot.retire()
            expectContains(await refusal(bot.name, to: Self.core)?.message ?? "", "\(id) has not ended")
            try await executor.cancel(
                AttemptDirectory(path: try #require(executor.starts.first)), reason: "enough", grace: .zero)
            _ = try await bot.completion(of: id)
            // Another bot has the name
            try bot.directory.write("bots/core.yml", "repository: \(bot.remote.path)\npoll: off\nbranches: [none]\n")
            bot.timer.advance(by: .seconds(2))
            try await bot.wait("the other bot") { store in try await store.bot(Self.core) }
            expectContains(await refusal(bot.name, to: Self.core)?.message ?? "", "there is a bot core already")
            // There is no such bot
            let nobody = await refusal(Name(nearest: "nobody"), to: Name(nearest: "other"))
            #expect(nobody?.code == .notFound)
            // and nothing was changed
            #expect(try await bot.store.integration(id) != nil)
            #expect(Self.entries(bot.state.integrations).contains("kit"))
        }
    }

    @Test(
        .proves(
            .programs,
            "`martlet bot NAME --delete` says what goes and which versions stay; with `--yes` rows, files, held commits and workspaces go"
        ))
    func testThatADeletedBotIsGoneButItsVersions() async throws {
        try await withBot(BotPlan(file: BotPlan.publishing)) { bot in
            // given
            try await bot.integrate(on: "release/1.0")
            try await until("its commit is held") { try await Self.held(bot) == ["refs/martlet/kit/1"] }
            let refused = await #expect(throws: OperationError.self) {
                _ = try await bot.operations.care.delete(bot.name, isDry: false, by: "ann")
            }
            expectContains(refused?.message ?? "", "the file of the bot kit is there")
            try await bot.retire()
            // when
            let dry = try await bot.operations.care.delete(bot.name, isDry: true, by: "ann")
            // then
            #expect(!dry.isDone && dry.refusal == nil && dry.contents.integrations == 1)
            #expect(dry.contents.published.map(\.versions) == [1] && dry.integrations.files > 1)
            #expect(try await bot.store.bot(bot.name) != nil)
            // when
            #expect(try await bot.operations.care.delete(bot.name, isDry: false, by: "ann").isDone)
            // then
            #expect(try await bot.store.bot(bot.name) == nil)
            await until("its files are gone") {
                Self.entries(bot.state.integrations).filter { $0 != ".removed" } == []
                    && Self.entries(bot.state.workspaces) == [] && Self.entries(bot.state.repositories) == []
            }
            await until("its rows are gone") { (try? await bot.store.deletedBots()) == [] }
            #expect(try bot.publishedFiles("1.0.0").contains("manifest.json"))
            #expect(try await bot.store.versions(of: bot.name).count == 1)
            // when: a bot of its name comes
            try bot.writeFile(BotPlan.publishing)
            bot.timer.advance(by: .seconds(2))
            try await bot.wait("the new bot") { store in try await store.bot(bot.name) }
            // then: no number is used twice
            let next = try await bot.wait("its integration") { store in
                try await store.integrations(IntegrationFilter(bot: bot.name)).items.last
            }
            #expect(next.id.number == 2)
        }
    }

    @Test(
        .proves(
            .programs,
            "`martlet bot NAME --clean` removes the workspaces that no job uses, and says how many are in use"))
    func testThatOnlyIdleWorkspacesAreRemoved() async throws {
        try await withRunningJob { bot, executor, id in
            // when
            let busy = try await bot.operations.care.clean(bot.name, by: "ann")
            // then
            #expect(busy.removed == 0 && busy.busy == 1)
            // given
            try await executor.cancel(
                AttemptDirectory(path: try #require(executor.starts.first)), reason: "enough", grace: .zero)
            _ = try await bot.completion(of: id)
            // when
            let idle = try await bot.operations.care.clean(bot.name, by: "ann")
            // then
            #expect(idle.removed == 1 && idle.busy == 0 && idle.use.files > 0)
            let missing = await #expect(throws: OperationError.self) {
                _ = try await bot.operations.care.clean(Self.core, by: "ann")
            }
            #expect(missing?.code == .notFound)
        }
    }

    @Test(
        .proves(
            .releases,
            "`retention: { workspaces, caches, retired }` of the settings removes unused workspaces, caches beyond a size, and bots without a file"
        ))
    func testThatAWorkspaceGoesOnceItWasUnusedForTheLimit() async throws {
        try await withBot { bot in
            // given
            try await bot.integrate()
            let domain = bot.state.workspaces + "/kit/debug/trusted"
            let slot = domain + "/" + (try #require(Self.entries(domain).first))
            var settings = try bot.parts(bot.store).settings
            settings.caches = .init(workspaces: .seconds(14 * 86_400))
            try await bot.service.reload(settings)
            /// Makes the workspace's last use earlier.
            func age(_ age: Duration) async throws {
                let used = (bot.time.now + (.zero - age)).millisecondsSinceEpoch / 1000
                try await runExpectingSuccess(["touch", "-d", "@\(used)", slot, slot + "/checkout"])
            }
            // when, then: within the limit it stays, also in a round after it
            try await age(.seconds(14 * 86_400 - 60))
            _ = try await bot.service.retention.round()
            #expect(Self.entries(domain) != [])
            // when
            try await age(.seconds(14 * 86_400 + 60))
            _ = try await bot.service.retention.round()
            // then: the mirror is used, and stays
            #expect(Self.entries(domain) == [])
            #expect(Self.entries(bot.state.repositories).count == 1)
            // and the next build begins from scratch
            expectVerdict(of: try await bot.integrate(), .succeeded)
            #expect(Self.entries(domain) != [])
        }
    }

    @Test(
        .proves(
            .releases,
            "`retention: { workspaces, caches, retired }` of the settings removes unused workspaces, caches beyond a size, and bots without a file"
        ))
    func testThatRetentionRemovesCachesAndRetiredBots() async throws {
        try await withBot { bot in
            // given
            try await bot.integrate()
            let survey = try bot.operations.survey
            #expect(try await survey.use(of: "workspaces").bytes > 0)
            let kinds = try await survey.parts().map(\.kind)
            #expect(Set(kinds).isSuperset(of: [.integrations, .workspaces, .mirror, .database]))
            let settings = try bot.parts(bot.store).settings
            // when: the limits are wide
            var wide = settings
            wide.caches = .init(workspaces: .seconds(3600), caches: ByteCount(1 << 40), retired: .seconds(3600))
            try await bot.service.reload(wide)
            _ = try await bot.service.retention.round()
            // then
            #expect(Self.entries(bot.state.workspaces) == ["kit"])
            // when
            var narrow = settings
            narrow.caches = .init(caches: ByteCount(1))
            try await bot.service.reload(narrow)
            _ = try await bot.service.retention.round()
            // then
            #expect(Self.entries(bot.state.workspaces + "/kit/debug/trusted") == [])
            #expect(Self.entries(bot.state.repositories).count == 1)
            // when: the bot has no file for longer than the limit
            try await bot.retire()
            try await bot.service.reload(wide)
            bot.time.advance(by: .seconds(7200))
            _ = try await bot.service.retention.round()
            // then
            #expect(try await bot.store.bot(bot.name) == nil)
            let rows = try await bot.store.audit(AuditFilter(action: .botDeleted)).items
            #expect(rows.map(\.entry.actor) == [AuditEntry.service])
            #expect(rows.map(\.entry.bot) == [bot.name])
        }
    }
}
