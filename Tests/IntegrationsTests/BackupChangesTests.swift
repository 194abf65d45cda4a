import Basics
import BotSupport
import Execution
import ExecutionSupport
import Foundation
import Glibc
import Model
import Storage
import TestSupport
import Testing

@testable import Integrations

/// Backups of a service that works meanwhile: what runs, and what is removed between the copy of the database and the end of the backup.
@Suite struct BackupChangesTests {
    private static let plan = BotPlan(file: BotPlan.publishing + "retention: { integrations: 1 }\n")

    /// Makes a backup, and changes something after the database and before the files are copied.
    private static func backUp(_ bot: Bot, changing: () async throws -> Void) async throws -> BackupDescription {
        let path = bot.directory.path("backup")
        let backup = Backup(of: bot.state, in: path, version: "test", clock: bot.time.clock)
        let target = try Directory(creating: path, mode: 0o700, readsSecondNames: true)
        let made = try backup.copyDatabase()
        try await changing()
        let copy = try backup.copyFiles(to: target, hasArtifacts: true)
        return try backup.complete(copy, in: target, made: made, hasArtifacts: true, wasStopped: false)
    }

    /// Restores the backup, and runs a test with the restored store.
    private static func restored(
        _ bot: Bot, _ body: (StateDirectory, Store) async throws -> Void
    ) async throws {
        let state = StateDirectory(path: bot.directory.path("restored"))
        _ = try await Restore(of: bot.directory.path("backup"), into: state, clock: bot.time.clock).run(
            isLatest: false, owner: nil, by: "ann")
        let store = try Store.open(path: state.database)
        try await body(state, store)
        try store.close()
    }

    @Test(
        .proves(
            .programs,
            "What is removed while a backup is made is removed in it, too; a bot that is renamed meanwhile ends it with a sentence"
        ))
    func testThatWhatRetentionRemovesMeanwhileIsRemovedInTheBackup() async throws {
        try await withBot(Self.plan) { bot in
            // given: one of them goes
            for number in 1...3 { try await bot.integrate(Commit(files: ["file": "\(number)"])) }
            // when
            let made = try await Self.backUp(bot) {
                let report = try await bot.operations.prune(isDry: false, bot: nil)
                #expect(report.items.contains { $0.goes })
                try await bot.service.retention.finish()
            }
            // then
            #expect(try Backup.verify(bot.directory.path("backup")) == made)
            try await Self.restored(bot) { state, store in
                let listed = try await store.integrations().items.map(\.id.number)
                #expect(listed == [3])
                let gone = IntegrationID(bot: bot.name, number: 1)
                let (kept, removed) = (try await store.removal(of: gone), try await bot.store.removal(of: gone))
                #expect(kept != nil && kept == removed)
                #expect(access(state.integrations + "/kit/1", F_OK) != 0)
                #expect(access(state.integrations + "/kit/3/debug/1/status.jsonl", F_OK) == 0)
            }
        }
    }

    @Test(
        .proves(
            .programs,
            "What is removed while a backup is made is removed in it, too; a bot that is renamed meanwhile ends it with a sentence"
        ))
    func testThatABotThatIsDeletedMeanwhileIsDeletedInTheBackup() async throws {
        try await withBot(Self.plan) { bot in
            // given
            try await bot.integrate(on: "release/1.0")
            try await bot.retire()
            // when
            let made = try await Self.backUp(bot) {
                #expect(try await bot.operations.care.delete(bot.name, isDry: false, by: "ann").isDone)
                try await bot.service.retention.finish()
            }
            // then
            #expect(try Backup.verify(bot.directory.path("backup")) == made)
            try await Self.restored(bot) { state, store in
                // The daemon removes its integrations when it starts.
                let (record, deleted) = (try await store.bot(bot.name), try await store.deletedBots())
                #expect(record == nil && deleted.map(\.name) == [bot.name])
                // Its versions stay.
                let versions = try await store.versions(of: bot.name)
                #expect(versions.map(\.state) == [.published])
                #expect(access(state.files + "/kit/1.0.0/manifest.json", F_OK) == 0)
            }
        }
    }

    @Test(
        .proves(
            .programs,
            "What is removed while a backup is made is removed in it, too; a bot that is renamed meanwhile ends it with a sentence"
        ))
    func testThatARenameMeanwhileEndsTheBackup() async throws {
        try await withBot(Self.plan) { bot in
            // given
            try await bot.integrate()
            try await bot.retire()
            // when
            let error = await #expect(throws: BackupError.self) {
                _ = try await Self.backUp(bot) {
                    try await bot.operations.care.rename(bot.name, to: Name(nearest: "core"), by: "ann")
                }
            }
            // then
            expectContains(error?.description ?? "", "a bot, formerly kit, was renamed while the backup was made")
            let verified = #expect(throws: BackupError.self) { _ = try Backup.verify(bot.directory.path("backup")) }
            expectContains(verified?.description ?? "", "no whole backup")
        }
    }

    @Test(
        .proves(
            .programs,
            "`martlet backup DIRECTORY` copies database, published files and logs of a running service; `--with-artifacts` copies the rest of integrations"
        ))
    func testThatABackupDuringAJobIsWholeAndTheJobGoesOn() async throws {
        try await withRunningJob { bot, executor, id in
            // when
            let backup = Backup(
                of: bot.state, in: bot.directory.path("backup"), version: "test", clock: bot.time.clock)
            let made = try backup.make(hasArtifacts: true)
            // then
            #expect(try Backup.verify(bot.directory.path("backup")) == made)
            try await Self.restored(bot) { _, store in
                let record = try #require(try await store.integration(id))
                #expect(record.state.verdict == nil)
                let rows = try await store.audit(AuditFilter(action: .restored)).items
                #expect(rows.map(\.entry.actor) == ["ann"])
            }
            // and what runs goes on
            try await executor.cancel(
                AttemptDirectory(path: try #require(executor.starts.first)), reason: "enough", grace: .zero)
            expectVerdict(of: try await bot.completion(of: id), .canceled)
        }
    }

    @Test(.proves(.badInput, "A full disk ends a backup with a sentence, and leaves no part of it"), .smallDisk)
    func testThatAFullDiskLeavesNoPartOfABackup() async throws {
        try await withBot(Self.plan) { bot in
            try await bot.integrate(on: "release/1.0")
            let disk = try bot.directory.makeDirectory("disk")
            try await SmallDisk.mounted(on: disk, size: "16m") {
                let path = disk + "/backup"
                func make() throws -> BackupDescription {
                    try Backup(of: bot.state, in: path, version: "test", clock: bot.time.clock).make(
                        hasArtifacts: true)
                }
                // given: room for nothing, for a part of the database, and for all of it but not for each file
                let size = try #require(FileManager.default.attributesOfItem(atPath: bot.state.database)[.size] as? Int)
                for rest in [0, size / 2, size + (8 << 10)] {
                    try SmallDisk.fill(with: disk + "/full", leaving: rest)
                    // when
                    let error = #expect(throws: BackupError.self) { _ = try make() }
                    // then
                    expectContains(error?.description ?? "", "the backup \(path) could not be made")
                    #expect(try Directory(creating: path).entries().map(\.name) == [], "\(rest)")
                }
                // when: there is room
                try Directory(opening: disk).remove("full")
                let made = try make()
                // then
                #expect(try Backup.verify(path) == made)
            }
        }
    }
}
