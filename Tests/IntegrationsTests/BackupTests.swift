import Basics
import BotSupport
import Execution
import Foundation
import Model
import Storage
import TestSupport
import Testing

@testable import Integrations

/// Backups of a state with a published version and logs, made while the service runs.
@Suite struct BackupTests {
    private static let plan = BotPlan(file: BotPlan.publishing)

    private static func backup(_ bot: Bot, _ name: String = "backup") -> Backup {
        Backup(of: bot.state, in: bot.directory.path(name), version: "test", clock: bot.time.clock)
    }

    /// Restores into a state beside the bot's.
    private static func restore(
        _ bot: Bot, _ name: String = "backup", into state: String = "restored", isLatest: Bool = false
    ) async throws(BackupError) -> StateDirectory {
        let state = StateDirectory(path: bot.directory.path(state))
        _ = try await Restore(of: bot.directory.path(name), into: state, clock: bot.time.clock).run(
            isLatest: isLatest, owner: nil, by: "ann")
        return state
    }

    private static func refusal(_ body: () async throws -> Void) async -> String {
        await #expect(throws: BackupError.self) { try await body() }?.description ?? ""
    }

    /// Returns the content of each file in a directory, by path.
    private static func files(_ path: String) throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        let root = try Directory(opening: path)
        try root.walk(limit: 100_000) { path, status in
            guard status.kind == .file else { return }
            files[String(decoding: path, as: UTF8.self)] = try root.read(path, limit: 100 << 20)
        }
        return files
    }

    @Test(
        .proves(
            .programs,
            "`martlet backup DIRECTORY` copies database, published files and logs of a running service; `--with-artifacts` copies the rest of integrations"
        ))
    func testThatABackupOfARunningServiceIsWholeAndIsRestored() async throws {
        try await withBot(Self.plan) { bot in
            // given
            let done = try await bot.integrate(on: "release/1.0")
            // when
            let made = try Self.backup(bot).make(hasArtifacts: false)
            let whole = try Self.backup(bot, "whole").make(hasArtifacts: true)
            // then
            #expect(try Backup.verify(bot.directory.path("backup")) == made)
            #expect(try Backup.verify(bot.directory.path("whole")) == whole)
            #expect(!made.hasArtifacts && whole.hasArtifacts && whole.files > made.files)
            let copied = try Self.files(bot.directory.path("backup"))
            #expect(copied["files/kit/1.0.0/manifest.json"] != nil)
            #expect(!copied.keys.contains { $0.contains("/artifacts/") || $0.contains("/reports/") })
            let listed = try await run(
                ["sh", "-c", "cd \"$0\" && sha256sum --quiet -c SHA256SUMS", bot.directory.path("backup")])
            #expect(listed.status == 0, "\(listed.stdout)\(listed.stderr)")
            // when
            let state = try await Self.restore(bot, "whole")
            // then
            let (before, after) = (try Self.files(bot.state.files), try Self.files(state.files))
            #expect(before == after)
            let logs = try Self.files(state.integrations).filter { $0.key.hasSuffix("status.jsonl") }
            #expect(!logs.isEmpty)
            let store = try Store.open(path: state.database)
            #expect(try await store.integration(done.record.id)?.state == done.record.state)
            #expect(try await store.versions(of: bot.name).map(\.state) == [.published])
            try store.close()
            #expect(access(state.restoring, F_OK) != 0)
        }
    }

    @Test(
        .proves(
            .badInput,
            "Half a backup, a damaged one and one of another form are refused with a sentence, and nothing of them is restored"
        ))
    func testThatADamagedBackupIsRefused() async throws {
        try await withBot(Self.plan) { bot in
            try await bot.integrate(on: "release/1.0")
            func damage(
                _ name: String, restoring words: String? = nil, _ body: (String) throws -> Void
            ) async throws -> String {
                _ = try Self.backup(bot, name).make(hasArtifacts: false)
                try body(bot.directory.path(name))
                let verified = await Self.refusal { _ = try Backup.verify(bot.directory.path(name)) }
                let restored = await Self.refusal { _ = try await Self.restore(bot, name, into: name + "-state") }
                expectContains(restored, words ?? name)
                #expect(access(bot.directory.path(name + "-state/martlet.sqlite"), F_OK) != 0)
                return verified
            }
            // when, then: each is named
            let half = try await damage("half") { try Directory(opening: $0).remove("backup.json") }
            expectContains(half, "is no whole backup: it has no backup.json")
            let byte = try await damage("byte") { path in
                let file = path + "/files/kit/1.0.0/manifest.json"
                var bytes = try WholeFile.read(file, limit: 1 << 20)
                bytes[bytes.count / 2] ^= 1
                try AtomicFile.write(bytes, to: file)
            }
            expectContains(byte, "files/kit/1.0.0/manifest.json is damaged")
            for name in ["files/kit/1.0.0/manifest.json", "martlet.sqlite"] {
                let words = "\(name) is missing, which the backup had when it was made; use another backup"
                let without = try await damage("without-\(name.count)", restoring: words) {
                    try Directory(opening: $0).remove(name)
                }
                expectContains(without, words)
            }
            let list = try await damage("list") { path in
                try AtomicFile.write(
                    Array("\(String(repeating: "0", count: 64))  ../a\n".utf8), to: path + "/SHA256SUMS")
            }
            expectContains(list, "is not the list that the backup was made with")
            let form = try await damage("form") { path in
                let text = String(decoding: try WholeFile.read(path + "/backup.json", limit: 1 << 20), as: UTF8.self)
                try AtomicFile.write(
                    Array(text.replacing("\"form\" : 1", with: "\"form\" : 2").utf8), to: path + "/backup.json")
            }
            expectContains(form, "has the form 2")
            expectContains(
                await Self.refusal { _ = try Backup.verify(bot.directory.path("nowhere")) }, "no whole backup")
        }
    }

    @Test(
        .proves(
            .badInput,
            "A restore beside a running daemon, or into a state that is not empty, is refused, and changes nothing"
        ))
    func testThatARestoreIntoAUsedStateIsRefused() async throws {
        try await withBot(Self.plan) { bot in
            _ = try Self.backup(bot).make(hasArtifacts: false)
            let before = try Self.files(bot.state.files)
            // when, then: the state in use
            let used = await Self.refusal { _ = try await Self.restore(bot, into: "state") }
            expectContains(used, "is not empty")
            #expect(try Self.files(bot.state.files) == before)
            // A daemon that has just started
            try bot.directory.makeDirectory("fresh")
            let held = try #require(try FileLock(path: bot.directory.path("fresh/lock"), contents: "1\n"))
            let beside = await Self.refusal { _ = try await Self.restore(bot, into: "fresh") }
            expectContains(beside, "a daemon works on")
            withExtendedLifetime(held) {}
            // Only files of a version
            try bot.directory.write("published/files/kit/1.0.0/manifest.json", "{}")
            let files = await Self.refusal { _ = try await Self.restore(bot, into: "published") }
            expectContains(files, "it has files")
            // What is not a state is no hindrance
            for name in ["repositories", "workspaces", "files"] { try bot.directory.makeDirectory("installed/\(name)") }
            try bot.directory.write("installed/boot", "x")
            _ = try await Self.restore(bot, into: "installed")
        }
    }

    @Test(
        .proves(.badInput, "A restore that was interrupted leaves a state that no daemon starts with, and begins anew"))
    func testThatAnInterruptedRestoreBeginsAnew() async throws {
        try await withBot(Self.plan) { bot in
            // given: a restore that met a damaged file
            try await bot.integrate(on: "release/1.0")
            _ = try Self.backup(bot).make(hasArtifacts: false)
            let file = bot.directory.path("backup/files/kit/1.0.0/manifest.json")
            let bytes = try WholeFile.read(file, limit: 1 << 20)
            try AtomicFile.write([0], to: file)
            _ = await Self.refusal { _ = try await Self.restore(bot) }
            let state = StateDirectory(path: bot.directory.path("restored"))
            #expect(access(state.restoring, F_OK) == 0 && access(state.database, F_OK) != 0)
            // when
            try AtomicFile.write(bytes, to: file)
            _ = try await Self.restore(bot)
            // then
            #expect(access(state.restoring, F_OK) != 0 && access(state.database, F_OK) == 0)
            #expect(try Self.files(state.files) == Self.files(bot.state.files))
        }
    }

    @Test(.proves(.badInput, "A backup into a directory with files, or into the state itself, is refused"))
    func testThatABackupInAWrongPlaceIsRefused() async throws {
        try await withBot { bot in
            try bot.directory.write("backup/mine", "mine")
            let full = await Self.refusal { _ = try Self.backup(bot).make(hasArtifacts: false) }
            expectContains(full, "is not empty")
            #expect(try Self.files(bot.directory.path("backup")) == ["mine": Array("mine".utf8)])
            let inside = await Self.refusal { _ = try Self.backup(bot, "state/backup").make(hasArtifacts: false) }
            expectContains(inside, "would be in the state directory")
        }
    }

    @Test(
        .proves(
            .releases,
            "After a restore publishing is held, and a number that was published after the backup never gets other bytes"
        ))
    func testThatALostNumberIsNeverPublishedWithOtherBytes() async throws {
        try await withBot(Self.plan) { bot in
            // given: 1.0.0 is in the backup, 1.0.1 was published after it
            try await bot.integrate(Commit(files: ["a": "1"]), on: "release/1.0")
            _ = try Self.backup(bot).make(hasArtifacts: false)
            try await bot.integrate(Commit(files: ["a": "2"]), on: "release/1.0")
            #expect(try await bot.store.versions(of: bot.name).count == 2)
            // when: the machine is lost, and the backup restored
            try await bot.stop()
            let state = try await Self.restore(bot)
            try Directory(opening: bot.directory.path("")).remove("state")
            try Directory(opening: bot.directory.path("")).rename(
                "restored", to: Directory(opening: bot.directory.path("")), "state", replace: false)
            _ = state
            try await bot.start()
            // then: numbers go on with a gap, and nothing is published
            let held = try await bot.wait("the integration of the branch's tip") { store in
                try await store.queued().first
            }
            #expect(held.id.number == 1 + Store.numbersAfterRestore + 1)
            let forecast = try await bot.operations.queueForecast()
            expectContains(forecast.waiting.first?.reason ?? "", "publishing is held by ann: this state was restored")
            #expect(try await bot.store.versions(of: bot.name).map(\.version.description) == ["1.0.0"])
            // when
            let lost = try #require(SemanticVersion("1.0.1"))
            let resumed = try await bot.operations.control.resumePublishing(lost: [(bot.name, lost)], by: "ann")
            // then
            #expect(resumed.pauses.publishing == nil)
            expectVerdict(of: try await bot.completion(of: held.id), .succeeded)
            #expect(
                try await bot.store.versions(of: bot.name).map(\.version.description).sorted() == ["1.0.0", "1.0.2"])
        }
    }

    @Test func testThatTheLatestStateGoesOnAsItWas() async throws {
        try await withBot(Self.plan) { bot in
            // given
            try await bot.integrate(on: "release/1.0")
            _ = try Self.backup(bot, "running").make(hasArtifacts: false)
            let lock = try #require(try FileLock(path: bot.state.lock, contents: "1\n"))
            _ = try Self.backup(bot, "beside").make(hasArtifacts: false)
            withExtendedLifetime(lock) {}
            // when, then: made beside a daemon
            let beside = await Self.refusal { _ = try await Self.restore(bot, "beside", isLatest: true) }
            expectContains(beside, "was made while a daemon worked")
        }
        try await withBot(Self.plan) { bot in
            // given: made without one
            try await bot.integrate(on: "release/1.0")
            try await bot.stop()
            try bot.directory.write("state/lock", "")
            #expect(try Self.backup(bot).make(hasArtifacts: false).wasStopped)
            // when
            let state = try await Self.restore(bot, isLatest: true)
            // then
            let store = try Store.open(path: state.database)
            #expect(try await store.pauses() == Pauses())
            let next = try await store.queue(
                NewIntegration(
                    bot: bot.name, ref: RefName(branch: "main"),
                    commit: #require(CommitID(String(repeating: "a", count: 40))), cause: .person), at: bot.time.now)
            #expect(next.id.number == 2)
            try store.close()
            try await bot.start()
        }
    }

    @Test func testThatAListKeepsEveryName() throws {
        var list = BackupList()
        let digest = String(repeating: "a", count: 64)
        for path in ["a b", "line\nend", "back\\slash", "integrations/kit/1/debug/1/artifacts/\u{FFFD}"] {
            list.entries.append(.init(sha256: digest, path: Array(path.utf8)))
        }
        list.entries.append(.init(sha256: digest, path: [0xFF, 0x2F, 0xFE]))
        #expect(BackupList(list.bytes) == list)
        for wrong in ["../a", "/a", "a//b", "a/./b", "a\\x"] {
            #expect(BackupList(Array("\\\(digest)  \(wrong)\n".utf8)) == nil, "\(wrong)")
        }
        #expect(BackupList(Array("\(digest)  a".utf8)) == nil)
        #expect(BackupList(Array("\(digest.dropLast())  aa\n".utf8)) == nil)
    }
}
