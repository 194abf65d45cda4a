import Basics
import BotSupport
import Integrations
import Model
import Storage
import TestSupport
import Testing

@Suite struct UserRequestsTests {
    private func withCommits(_ body: (Bot, _ old: CommitID, _ new: CommitID) async throws -> Void) async throws {
        try await withBot(configurations: ["debug"]) { bot in
            let old = try await bot.push()
            try await bot.work.tag("1.0.0")
            let new = try await bot.push(Commit(files: ["new": ""]))
            try await bot.work.branch("topic", at: old.description)
            try await bot.work.push(to: bot.remote)
            try await body(bot, old, new)
        }
    }

    private func integrate(_ bot: Bot, _ revision: String?) async throws -> (ref: String, commit: CommitID) {
        let record = try await bot.operations.integrate(bot: bot.name, revision: revision, isClean: false, by: "ada")
        #expect(record.cause == .person)
        #expect(record.requestedBy == "ada")
        return (record.ref.description, record.commit)
    }

    @Test(.proves(.intake, "A user starts an integration by the API"))
    func testThatNothingMeansTheDefaultBranch() async throws {
        try await withCommits { bot, _, new in
            let target = try await integrate(bot, nil)
            #expect(target == ("refs/heads/main", new))
        }
    }

    @Test(
        .proves(.intake, "A user starts an integration by the API"),
        arguments: [
            ("topic", "refs/heads/topic"), ("refs/heads/topic", "refs/heads/topic"), ("1.0.0", "refs/tags/1.0.0"),
            ("refs/tags/1.0.0", "refs/tags/1.0.0"),
        ])
    func testThatARefIsMeantByItsName(revision: String, ref: String) async throws {
        try await withCommits { bot, old, _ in
            let target = try await integrate(bot, revision)
            #expect(target == (ref, old))
        }
    }

    @Test func testThatACommitIsIntegratedAsOfTheRefWhoseTipItIs() async throws {
        try await withCommits { bot, old, new in
            let first = try await integrate(bot, old.description)
            #expect(first == ("refs/heads/topic", old))
            let second = try await integrate(bot, String(new.description.prefix(7)))
            #expect(second == ("refs/heads/main", new))
        }
    }

    @Test(
        .proves(
            .sourceControl,
            "A commit that the last scan saw at a ref's tip is integrated without asking the repository again"))
    func testThatACommitThatTheLastScanSawIsNotLookedForAgain() async throws {
        try await withBot(configurations: ["debug"]) { bot in
            // given
            let known = try await bot.integrate().record.commit
            let directory = try Directory(opening: bot.directory.path)
            try directory.rename("kit.git", to: directory, "elsewhere.git", replace: false)

            // when, then
            let target = try await integrate(bot, known.description)
            #expect(target == ("refs/heads/main", known))
            await expectRejection(OperationError.self, \.code, .unavailable) { try await integrate(bot, "main") }
        }
    }

    @Test(
        .proves(
            .sourceControl,
            "A tag of a file or a directory is no commit: it is canceled with that reason, and keeps nobody from other refs"
        ))
    func testThatATagOfAFileKeepsNobodyFromACommit() async throws {
        try await withBot(BotPlan(file: "tags: [v*]\n")) { bot in
            // given: the first of all refs
            let old = try await bot.push()
            let new = try await bot.push(Commit(files: ["new": ""]))
            try await bot.work.git("tag", "a", try await bot.work.git("rev-parse", "HEAD:new"))
            try await bot.work.push(to: bot.remote)

            // when, then
            let tip = try await integrate(bot, String(new.description.prefix(7)))
            #expect(tip == ("refs/heads/main", new))
            let target = try await integrate(bot, String(old.description.prefix(7)))
            #expect(target == ("refs/heads/main", old))

            // when: the bot watches such a tag, and has looked before
            try await bot.announce()
            let known = try await bot.integration(of: new, on: RefName(branch: "main"))
            _ = try await bot.completion(of: known.id)
            try await bot.work.git("tag", "v1", try await bot.work.git("rev-parse", "HEAD:new"))
            try await bot.work.push(to: bot.remote)
            try await bot.announce()
            let record = try await bot.wait("the tag's integration") { store in
                try await store.integrations(IntegrationFilter(ref: RefName(tag: "v1"))).items.first
            }

            // then
            let integration = try await bot.completion(of: record.id)
            expectVerdict(of: integration, .canceled, because: "not a commit")
        }
    }

    @Test func testThatACommitBetweenIsIntegratedAsOfTheDefaultBranch() async throws {
        try await withCommits { bot, _, new in
            // given
            let newest = try await bot.push(Commit(files: ["newest": ""]), on: "main")
            #expect(newest != new)

            // when, then
            let target = try await integrate(bot, new.description)
            #expect(target == ("refs/heads/main", new))
        }
    }

    /// A branch whose commits must not get what only those of the default branch get.
    @Test(.proves(.intake, "A user starts an integration by the API"))
    func testThatACommitOfAnotherBranchIsNeverIntegratedAsOfTheDefaultBranch() async throws {
        try await withCommits { bot, _, _ in
            // given
            let between = try await bot.push(Commit(files: ["x": "1"]), on: "contrib/x")
            try await bot.push(Commit(files: ["x": "2"]), on: "contrib/x")

            // when, then: by its id, and by the beginning of the id
            for revision in [between.description, String(between.description.prefix(8))] {
                let target = try await integrate(bot, revision)
                #expect(target == ("refs/heads/contrib/x", between))
            }
        }
    }

    @Test(.proves(.intake, "A user starts an integration by the API"))
    func testThatACommitThatNoBranchHasAnyMoreIsRefused() async throws {
        try await withCommits { bot, _, _ in
            // given: it was fetched once
            let gone = try await bot.push(Commit(files: ["x": "1"]), on: "gone")
            let target = try await integrate(bot, "gone")
            #expect(target == ("refs/heads/gone", gone))
            _ = try await bot.completion(of: IntegrationID(bot: bot.name, number: 1))
            try await bot.remote.git("update-ref", "-d", "refs/heads/gone")

            // when
            let error = await expectRejection(OperationError.self, \.code, .notFound) {
                try await integrate(bot, gone.description)
            }

            // then
            expectContains(
                error?.message ?? "", "no branch has the commit \(gone.abbreviated) in its history; push one that does")
            #expect(try await bot.store.integrations().items.count == 1)
        }
    }

    @Test(arguments: [
        "nowhere", "refs/heads/nowhere", "1234567", "123456", "HEAD", "main~1", "@{-1}", ":/x", "", "-x", "main\u{0}",
        String(repeating: "a", count: 40), String(repeating: "x", count: 10_000),
    ])
    func testThatWhatNobodyHasIsNotFound(revision: String) async throws {
        try await withCommits { bot, _, _ in
            let error = await expectRejection(OperationError.self, \.code, .notFound) {
                try await integrate(bot, revision)
            }
            expectContains(error?.message ?? "", "the repository has no branch, tag or commit")
        }
    }

    @Test func testThatABotThatIsNotThereIsNotFound() async throws {
        try await withBot(configurations: ["debug"]) { bot in
            await expectRejection(OperationError.self, \.code, .notFound) {
                try await bot.operations.integrate(
                    bot: try Samples.name("nobody"), revision: nil, isClean: false, by: "ada")
            }
        }
    }
}
