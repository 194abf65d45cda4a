import Basics
import BotSupport
import Integrations
import Model
import SourceControl
import Storage
import TestSupport
import Testing

/// Integrations whose commits are on the server, and whose mirror is damaged.
@Suite struct DamagedMirrorTests {
    /// Overwrites a loose object of the bot's mirror with zeros, as a loss of power does. The repository keeps its own.
    private static func zero(_ object: String, of bot: Bot) async throws {
        let file = "objects/\(object.prefix(2))/\(object.dropFirst(2))"
        // It is a link to the repository's file.
        try await runExpectingSuccess(
            ["sh", "-c", "rm '\(file)' && head -c 150 /dev/zero > '\(file)'"], in: try await bot.mirror().path)
    }

    /// The repack after the fetch finds a pack that cannot be opened.
    @Test(
        .proves(
            .sourceControl,
            "A commit on the server is integrated even if the mirror is found damaged after the fetch. A mirror that stays damaged is a checkout error"
        ))
    func testThatACommitIsIntegratedWhereTheRepackFindsDamage() async throws {
        try await withBot { bot in
            // given: too many packs, and a scan that leaves the commit to the integration's fetch
            _ = try await bot.integrate()
            let path = try await bot.mirror().path
            let packs = try Directory(creating: path + "/objects/pack")
            for number in 100..<151 { try packs.write("pack-\(number).pack", bytes: []) }
            try packs.write("pack-100.idx", bytes: [])
            try Directory(opening: path).write("martlet-holds", bytes: [])

            // when
            let integration = try await bot.integrate(Commit(files: ["b": "2\n"]))

            // then
            expectResult(of: integration, "succeeded")
            #expect(bot.log.lines.contains { $0.message == "a mirror could not be repacked" })
            #expect(try packs.status("pack-100.idx") == nil)
        }
    }

    /// The merge does not read the base's recipe, since only the head has changed it.
    @Test(
        .proves(
            .sourceControl,
            "A commit on the server is integrated even if the mirror is found damaged after the fetch. A mirror that stays damaged is a checkout error"
        ))
    func testThatADamagedRecipeOfAForksBaseIsFetchedAgain() async throws {
        try await withBot(pullPlan("pull-requests: all\n")) { bot in
            // given: the first fetch takes both commits from the repository, as loose objects
            try await bot.push()
            let head = try await bot.pull(1, [".martlet.yml": "none\n"])
            let base = try await bot.integrate()
            try await Self.zero(try await bot.work.git("rev-parse", "\(base.record.commit):.martlet.yml"), of: bot)

            // when
            try await bot.tell("opened", pull: 1, head: head)

            // then
            expectResult(of: try await bot.completion(ofPull: 1, at: head), "succeeded")
        }
    }

    /// After a stop of the machine, and before the damage is known.
    @Test(
        .proves(
            .sourceControl,
            "A pull request is merged only in a mirror that is verified; a merge that meets damage is made again once that is mended"
        ), arguments: [true, false])
    func testThatAPullRequestIsMergedOnceTheMirrorIsMended(isDoubted: Bool) async throws {
        try await withBot(pullPlan()) { bot in
            // given: the first fetch takes both commits from the repository, as loose objects
            try await bot.push()
            let head = try await bot.pull(1, ["a": "1\n"], branch: "topic")
            let base = try await bot.integrate(Commit(files: ["b": "2\n"]))
            try await bot.stop()
            try await Self.zero(try await bot.work.git("rev-parse", "\(base.record.commit)^{tree}"), of: bot)
            if isDoubted { #expect(try bot.mirrors.doubt() == 1) }
            try await bot.start()

            // when
            try await bot.tell("opened", pull: 1, head: head)

            // then
            let integration = try await bot.completion(ofPull: 1, at: head)
            expectResult(of: integration, "succeeded")
            #expect(integration.record.pull?.unmerged == nil)
            #expect(try await !bot.mirror().isMarkedDamaged)
        }
    }
}
