import BotSupport
import Execution
import Integrations
import Model
import Storage
import TestSupport
import Testing

@Suite struct SkippingTests {
    private static let plan = BotPlan(file: "branches: [\"**\"]\ntags: [\"**\"]\npaths: [Sources/, \"!*.md\"]\n")
    private static let docs = Commit(files: ["docs/a.txt": "1"], message: "Write")
    private static let code = Commit(files: ["Sources/a.swift": "1"], message: "Code")

    private func expectSkipped(
        _ integrated: Integrated, because reason: String, _ bot: Bot, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        #expect(integrated.record.isSkipped, sourceLocation: sourceLocation)
        #expect(integrated.record.state == .completed(.canceled, triggerFailed: false), sourceLocation: sourceLocation)
        #expect(integrated.record.reason == reason, sourceLocation: sourceLocation)
        #expect(integrated.attempts.isEmpty, sourceLocation: sourceLocation)
        let update = try await bot.store.refUpdates().items.first
        #expect(update?.outcome == .ignored && update?.reason == reason, sourceLocation: sourceLocation)
        #expect(update?.integrations == [integrated.record.id], sourceLocation: sourceLocation)
        let event = try await bot.store.deliveries().items.first
        #expect(event?.outcome == .ignored && event?.reason == reason, sourceLocation: sourceLocation)
    }

    private func expectIntegrated(_ integrated: Integrated, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(!integrated.record.isSkipped, sourceLocation: sourceLocation)
        #expect(integrated.record.state.verdict == .succeeded, sourceLocation: sourceLocation)
    }

    @Test(
        .proves(
            .intake,
            "Path filters (`paths:`) have gitignore(5)'s patterns. A push that changes none of the files is skipped with its reason; the next one that does is integrated"
        ))
    func testThatAPushThatChangesNoneOfItsFilesIsSkippedAndTheNextThatDoesIsIntegrated() async throws {
        try await withBot(Self.plan) { bot in
            // given: the first commit of a branch is integrated whatever it changes
            expectIntegrated(try await bot.integrate(Self.docs))
            // when
            let skipped = try await bot.integrate(Commit(files: ["docs/a.txt": "2", "Sources/a.md": "2"]))
            // then
            try await expectSkipped(
                skipped, because: "skipped: no changed file is one of the bot's `paths`: Sources/a.md and 1 more", bot)
            #expect(skipped.record.subject == "Change")
            // when
            let next = try await bot.integrate(Self.code)
            // then: it is compared with the commit that was integrated last
            expectIntegrated(next)
            #expect(try await bot.store.previous(of: next.record.id)?.id.number == 1)
        }
    }

    @Test(
        .proves(.intake, "`[skip ci]`, `[ci skip]` and `[no ci]` in a commit's message skip it, with that said"),
        arguments: ["Fix [skip ci]", "Fix\n\nlong [CI Skip] story", "[no ci]"])
    func testThatACommitWhoseMessageSaysSoIsSkipped(message: String) async throws {
        try await withBot(BotPlan()) { bot in
            // given
            expectIntegrated(try await bot.integrate(Commit(files: ["a": "1"], message: message)))
            // when
            let skipped = try await bot.integrate(Commit(files: ["a": "2"], message: message))
            // then
            let word = message.contains("no ci") ? "[no ci]" : message.contains("Skip") ? "[ci skip]" : "[skip ci]"
            try await expectSkipped(skipped, because: "skipped: the commit's message says \(word)", bot)
            expectIntegrated(try await bot.integrate(Commit(files: ["a": "3"])))
        }
    }

    /// The author's message is about that commit, not about the one before it.
    @Test func testThatAWordOfTheLastCommitDoesNotSkipOneThatNobodyHasJudged() async throws {
        try await withBot(BotPlan()) { bot in
            // given
            expectIntegrated(try await bot.integrate(Commit(files: ["a": "1"])))
            let canceled = try await bot.integrate(Commit(files: ["a": "2"])).record.id
            try await SQLProgram.run(
                "UPDATE integrations SET verdict = 'canceled' WHERE number = \(canceled.number)", at: bot.state.database
            )
            // when, then
            expectIntegrated(try await bot.integrate(Commit(files: ["b": "1"], message: "Words [skip ci]")))
        }
    }

    @Test(
        .proves(
            .intake,
            "`paths` are compared with the commit that was judged last, also after a forced push and past skipped ones; a new branch with where it parts from the default branch"
        ))
    func testThatANewBranchIsComparedWithWhereItPartsFromTheDefaultBranch() async throws {
        try await withBot(Self.plan) { bot in
            // given: main continues after the branches were made
            _ = try await bot.integrate(Self.docs)
            let base = try await bot.work.head()
            _ = try await bot.integrate(Self.code)
            for (name, commit) in [("words", Self.docs), ("code", Self.code)] {
                try await bot.work.branch(name, at: base.description)
                try await bot.work.checkout(name)
                // when
                let end = try await bot.integrate(
                    Commit(files: commit.files.mapValues { _ in name }, message: name), on: name)
                // then
                #expect(end.record.isSkipped == (name == "words"))
            }
            // when: a branch without a commit of its own
            try await bot.work.branch("release/1.0", at: "main")
            try await bot.work.push(to: bot.remote)
            try await bot.announce()
            let head = try await bot.work.git("rev-parse", "main")
            let cut = try await bot.integration(
                of: try #require(CommitID(head)), on: RefName(branch: "release/1.0"))
            // then
            expectIntegrated(try await bot.completion(of: cut.id))
        }
    }

    @Test(
        .proves(
            .intake,
            "`paths` are compared with the commit that was judged last, also after a forced push and past skipped ones; a new branch with where it parts from the default branch"
        ))
    func testThatAForcedPushIsComparedWithWhatWasJudged() async throws {
        try await withBot(Self.plan) { bot in
            // given
            _ = try await bot.integrate(Self.docs)
            let base = try await bot.work.head()
            _ = try await bot.integrate(Self.code)
            // when: the code is reverted, and text is written instead
            try await bot.work.git("reset", "-q", "--hard", base.description)
            // then: the branch is no longer what was judged
            expectIntegrated(try await bot.integrate(Commit(files: ["docs/b.txt": "3"])))
            // when: other text instead of that
            try await bot.work.git("reset", "-q", "--hard", base.description)
            let words = try await bot.integrate(Commit(files: ["docs/c.txt": "3"]))
            // then
            #expect(words.record.isSkipped)
        }
    }

    @Test(
        .proves(
            .intake,
            "`paths` are compared with the commit that was judged last, also after a forced push and past skipped ones; a new branch with where it parts from the default branch"
        ))
    func testThatASubmoduleIsADirectory() async throws {
        try await withBot(BotPlan(file: "paths: [vendor/lib/]\n")) { bot in
            // given
            _ = try await bot.integrate(Self.docs)
            // when
            let head = try await bot.work.head()
            try await bot.work.git("update-index", "--add", "--cacheinfo", "160000,\(head),vendor/lib")
            try await bot.work.git("commit", "-q", "-m", "Bump")
            try await bot.work.push(to: bot.remote)
            try await bot.announce()
            let bump = try await bot.integration(of: try await bot.work.head(), on: RefName(branch: "main"))
            // then
            #expect(try await bot.completion(of: bump.id).record.isSkipped == false)
        }
    }

    @Test(
        .proves(.intake, "`paths` never skip tags, users' requests, schedules and reruns"),
        .proves(
            .intake,
            "A toolchain's upgrade is not integrated with `upgrades: false`, is never skipped by `paths` or `[skip ci]`, and runs after commits and before schedules"
        ))
    func testThatTagsAndPersonsAndRerunsAreNeverSkipped() async throws {
        try await withBot(Self.plan) { bot in
            // given
            _ = try await bot.integrate(Self.code)
            let skipped = try await bot.integrate(Commit(files: ["docs/a": "1"], message: "Words [skip ci]"))
            #expect(skipped.record.isSkipped)
            // when, then
            expectIntegrated(try await bot.integrate(tag: "v1"))
            let requested = try await bot.operations.integrate(bot: bot.name, revision: nil, isClean: false, by: "ada")
            expectIntegrated(try await bot.completion(of: requested.id))
            let upgraded = try await bot.store.queue(
                NewIntegration(
                    bot: bot.name, ref: skipped.record.ref, commit: skipped.record.commit, cause: .upgrade),
                at: bot.time.now)
            expectIntegrated(try await bot.completion(of: upgraded.id))
            _ = try await bot.operations.rerun(skipped.record.id, Rerun(), by: "ada")
            let again = try await bot.wait("the rerun's end") { store in
                try await store.integration(skipped.record.id).flatMap {
                    $0.run == 2 && $0.state.verdict != nil ? $0 : nil
                }
            }
            expectIntegrated(try await Integrated(again, store: try bot.store))
        }
    }
}
