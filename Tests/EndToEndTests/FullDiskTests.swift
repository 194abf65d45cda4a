import Basics
import BotSupport
import Execution
import Foundation
import Glibc
import Integrations
import Model
import Storage
import TestSupport
import Testing

/// A disk that is full while a job runs. No stored data is lost, the fault is reported as ours, and once there is space the service continues by
/// itself.
@Suite struct FullDiskTests {
    @Test(
        .proves(.badInput, "A full disk loses no result"),
        .proves(
            .badInput,
            "After a full disk, a job that failed by the machine's fault is run once more by itself, when there is room"
        ), .smallDisk)
    func testThatTheServiceGoesOnWhenThereIsSpaceAgain() async throws {
        try await withTemporaryDirectory { outer in
            let disk = try outer.makeDirectory("disk")
            try await SmallDisk.mounted(on: disk, size: "24m") { try await integrateOnFullDisk(disk) }
        }
    }

    /// No user removes anything. The disk is full of bytes, of files, or so small that it was nearly full before.
    @Test(
        .proves(
            .jobs,
            "A job that takes the disk's last byte or file is an internal error; its workspace is emptied, and the next push is integrated without an operator"
        ),
        .smallDisk,
        arguments: [
            ("300m", "dd if=/dev/zero of=big bs=1M count=400 || exit 1"),
            ("24m", "dd if=/dev/zero of=big bs=1M count=400 || exit 1"),
            ("300m,nr_inodes=900", "i=0; while : > file$i; do i=$((i+1)); done"),
        ])
    func testThatAJobThatTakesTheLastAtOnceEndsAndTheNextIsIntegrated(disk size: String, script: String) async throws {
        try await withTemporaryDirectory { outer in
            let disk = try outer.makeDirectory("disk")
            try await SmallDisk.mounted(on: disk, size: size) {
                try await withBot(BotPlan(state: disk + "/state", executor: .local)) { bot in
                    // given
                    expectResult(of: try await bot.integrate(), "succeeded")
                    // when
                    let id = try await bot.begin(.running(.building, of: "debug", script: script))
                    let full = try await end(of: id, bot)
                    // then
                    expectVerdict(of: full, .internalError)
                    expectResult(of: try await bot.integrate(), "succeeded")
                    #expect(access(disk + "/state/reserve/bytes", F_OK) == 0)
                }
            }
        }
    }

    private func integrateOnFullDisk(_ disk: String) async throws {
        try await withBot(BotPlan(state: disk + "/state", executor: .local)) { bot in
            // given
            bot.log.expectErrors(containing: "No space left on device")
            expectResult(of: try await bot.integrate(), "succeeded")

            // when: the job fills the disk, and leaves a report for which there is no room, even if other files are removed meanwhile
            let script = """
                if mkdir \(disk)/once; then
                    head -c 2M /dev/zero | tr '\\0' ' ' >>build/junit.xml
                    cat /dev/zero >\(disk)/full
                else
                    while test -e \(disk)/full; do sleep 0.02; done
                fi
                echo a line of the log
                """
            let id = try await bot.begin(.running(.testing, of: "debug", script: script))
            // Where the removed report makes room enough, the next attempt begins, and waits.
            await until("the disk is full", limit: Bot.waitLimit) {
                guard (try? await run(["tail", "-c1", "\(disk)/full"]).status) == 0 else { return false }
                let attempts = try? await bot.store.attempts(of: id).count
                return bot.jobProcesses.isEmpty || attempts == 2
            }
            try FileManager.default.removeItem(atPath: disk + "/full")

            // then: what its supervisor could not write is reported as our fault; what the database could not store is stored later
            let full = try await end(of: id, bot)
            let first = try #require(full.attempts.first)
            #expect(first.state.verdict == .internalError)
            // A step that took longer than usual was ended for that reason.
            let reason = first.reason ?? ""
            #expect(reason.contains("disk full") || reason.contains("No space left on device"), "\(reason)")
            // and there is one more attempt, once there is room
            #expect(full.attempts.count == 2)
            expectResult(of: full, "succeeded")
            expectResult(of: try await bot.integrate(), "succeeded")
            #expect(
                try await bot.store.integration(IntegrationID(bot: bot.name, number: 1))?.state.verdict == .succeeded)
        }
    }

    /// The job has a disk of its own, so it does not affect the database's disk.
    @Test(
        .proves(.jobs, "A job outlives a database that cannot be written for a while; what it came to is taken up"),
        .smallDisk, .program("python3"), arguments: [true, false])
    func testThatAJobOutlivesADatabaseThatCannotBeWrittenForAWhile(endsMeanwhile: Bool) async throws {
        try await withTemporaryDirectory { outer in
            let (disk, state) = (try outer.makeDirectory("disk"), StateDirectory(path: outer.path("state")))
            try await SmallDisk.mounted(on: disk, size: "24m") {
                try state.create()
                try #require(symlink(disk + "/martlet.sqlite", state.database) == 0)
                try await withBot(BotPlan(state: state.path, executor: .local)) { bot in
                    try await runBesideAFullDatabase(bot, outer, disk: disk, endsMeanwhile: endsMeanwhile)
                }
            }
        }
    }

    private func runBesideAFullDatabase(
        _ bot: Bot, _ outer: TemporaryDirectory, disk: String, endsMeanwhile: Bool
    ) async throws {
        // given
        let (go, done) = (outer.path("go"), outer.path("done"))
        let script = "until [ -e \(go) ]; do sleep 0.01; done; touch \(done)"
        let id = try await bot.begin(
            .running(.building, of: "debug", script: "\(script).building")
                .and(.running(.testing, of: "debug", script: "\(script).testing")))
        let store = try bot.store
        try await until("the first step") { try await store.attempts(of: id).first?.state == .running(.building) }

        // when: the write-ahead log starts at its beginning again, so that it needs room
        #expect(try await SQLProgram.read("PRAGMA wal_checkpoint(TRUNCATE)", at: bot.state.database) == "0")
        try SmallDisk.fill(with: disk + "/full")
        try outer.write("go", "")
        await until("what could not be stored is told") {
            bot.log.lines.contains { $0.message.contains("could not be stored") }
        }
        if endsMeanwhile {
            await until("the job's end") { bot.jobProcesses.isEmpty }
            bot.timer.advance(by: .seconds(10))
        }
        try FileManager.default.removeItem(atPath: disk + "/full")

        // then
        let integration = try await end(of: id, bot)
        expectVerdict(of: integration, .succeeded)
        #expect(integration.attempts.count == 1)
        for step in ["building", "testing"] {
            #expect(access("\(done).\(step)", F_OK) == 0, "\(step) ran to its end")
        }
        expectResult(of: try await bot.integrate(), "succeeded")
    }

    /// If the database has no room for a publication, the commit has not failed: it is published as soon as there is room.
    @Test(.smallDisk, .program("python3")) func testThatAPublicationWaitsForADatabaseThatCannotBeWritten() async throws
    {
        try await withTemporaryDirectory { outer in
            let (disk, state) = (try outer.makeDirectory("disk"), StateDirectory(path: outer.path("state")))
            try await SmallDisk.mounted(on: disk, size: "24m") {
                try state.create()
                try #require(symlink(disk + "/martlet.sqlite", state.database) == 0)
                // given: nothing is stored between the command for the version and the reservation of its number
                let (asked, go) = (outer.path("asked"), outer.path("go"))
                let plan = BotPlan(
                    recipe: """
                        configurations: { debug: { steps: [{ name: make, step: building, run: "printf bytes > kit" }], test: none } }
                        analyze: []
                        archive: { include: [kit] }

                        """,
                    file: """
                        branches: [main]
                        triggers:
                          - { name: publish, branches: [main], publish: { version: { command: "touch \(asked); until [ -e \(go) ]; do sleep 0.01; done; echo 1.4.0" } } }

                        """, state: state.path, executor: .local)
                try await withBot(plan) { bot in
                    let id = try await bot.begin(.succeeding)
                    await until("the question for the version", limit: Bot.waitLimit) { access(asked, F_OK) == 0 }

                    // when
                    #expect(try await SQLProgram.read("PRAGMA wal_checkpoint(TRUNCATE)", at: bot.state.database) == "0")
                    try SmallDisk.fill(with: disk + "/full")
                    try outer.write("go", "")
                    await until("what could not be stored is told") {
                        bot.log.lines.contains { $0.message.contains("could not be stored") }
                    }
                    try FileManager.default.removeItem(atPath: disk + "/full")

                    // then
                    let integration = try await end(of: id, bot)
                    expectResult(of: integration, "succeeded")
                    expectTriggers(of: integration, ["publish": .succeeded])
                    try await expectPublished(by: bot, ["1.4.0"])
                }
            }
        }
    }

    /// A recipe whose product does not compress.
    private static func recipe(archiving size: String, _ more: String = "") -> String {
        """
        configurations: { debug: { steps: [{ name: make, step: building, run: "head -c \(size) /dev/urandom > kit\(more)" }], test: none } }
        analyze: []
        archive: { include: [kit] }

        """
    }

    @Test(
        .proves(
            .badInput,
            "After a full disk, a publication, an upload or an archive that found no room is done once more by itself, when there is room"
        ), .smallDisk, arguments: ["publish: { version: { file: VERSION } }", "upload: \"{disk}/uploads/{commit}/\""])
    func testThatATriggerThatFoundNoRoomIsDoneWhenThereIsRoom(action: String) async throws {
        try await withTemporaryDirectory { outer in
            let disk = try outer.makeDirectory("disk")
            try await SmallDisk.mounted(on: disk, size: "64m") {
                // given: a script holds the integration between its jobs and the trigger
                let (asked, go) = (outer.path("asked"), outer.path("go"))
                let plan = BotPlan(
                    recipe: Self.recipe(archiving: "2M"),
                    file: """
                        branches: [main]
                        triggers:
                          - { name: hold, branches: [main], run: hold }
                          - { name: release, branches: [main], \(action.replacingOccurrences(of: "{disk}", with: disk)) }

                        """,
                    scripts: ["hold": "#!/bin/sh\ntouch \(asked); until [ -e \(go) ]; do sleep 0.01; done\n"],
                    state: disk + "/state", executor: .local)
                try await withBot(plan) { bot in
                    let id = try await bot.begin(Commit(files: ["VERSION": "1.4.0\n"]))
                    await until("the script", limit: Bot.waitLimit) { access(asked, F_OK) == 0 }

                    // when: there is room for the service, and none for the files
                    try SmallDisk.fill(with: disk + "/full", leaving: 1 << 20)
                    try outer.write("go", "")
                    await expectWaitForRoom(bot)
                    try FileManager.default.removeItem(atPath: disk + "/full")

                    // then
                    let integration = try await end(of: id, bot)
                    expectResult(of: integration, "succeeded")
                    expectTriggers(of: integration, ["hold": .succeeded, "release": .succeeded])
                }
            }
        }
    }

    @Test(
        .proves(
            .badInput,
            "After a full disk, a publication, an upload or an archive that found no room is done once more by itself, when there is room"
        ), .smallDisk)
    func testThatAnArchiveThatFoundNoRoomIsMadeWhenThereIsRoom() async throws {
        try await withTemporaryDirectory { outer in
            let disk = try outer.makeDirectory("disk")
            try await SmallDisk.mounted(on: disk, size: "64m") {
                // given
                let (asked, go) = (outer.path("asked"), outer.path("go"))
                let hold = "; touch \(asked); until [ -e \(go) ]; do sleep 0.01; done"
                let plan = BotPlan(
                    recipe: Self.recipe(archiving: "4M", hold), file: "branches: [main]\n", state: disk + "/state",
                    executor: .local)
                try await withBot(plan) { bot in
                    let id = try await bot.begin(.succeeding)
                    await until("the step", limit: Bot.waitLimit) { access(asked, F_OK) == 0 }

                    // when: there is room for the copy of the product, and not for its archive
                    try SmallDisk.fill(with: disk + "/full", leaving: 5 << 20)
                    try outer.write("go", "")
                    await expectWaitForRoom(bot)

                    // then: the workspace has made room for it
                    let integration = try await end(of: id, bot)
                    expectResult(of: integration, "succeeded")
                    #expect(integration.attempts.count == 1)
                    let archived = try await bot.store.artifacts(of: id).map(\.artifact.path)
                    #expect(archived.map { $0.hasSuffix(".tar.zst") } == [true, false], "\(archived)")
                }
            }
        }
    }

    private func expectWaitForRoom(_ bot: Bot) async {
        await until("it waits for room", limit: Bot.waitLimit) {
            bot.log.lines.contains { $0.message.hasPrefix("what failed on a full disk is done again") }
        }
    }

    private func end(of id: IntegrationID, _ bot: Bot) async throws -> Integrated {
        let store = try bot.store
        try await until("its end", limit: Bot.waitLimit) {
            // The pause before the store is tried again.
            bot.timer.advance(by: .seconds(10))
            return try await store.integration(id)?.state.verdict != nil
        }
        return try await bot.completion(of: id)
    }
}
