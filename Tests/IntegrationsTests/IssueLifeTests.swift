import BotSupport
import ExecutionSupport
import Integrations
import JobProtocol
import Model
import Storage
import TestSupport
import Testing

/// Issues over a branch's integrations, with a real repository: lines move, files are renamed, builds fail in between.
@Suite struct IssueLifeTests {
    /// Returns a commit with a source that has a warning at each line with `bad`, and the compiler's messages about them.
    private static func commit(
        _ files: [String: String], of configurations: [String] = ["debug"], exit: Int = 0
    ) -> Commit {
        var output = exit == 0 ? "" : "x.c:1:1: error: no\n"
        for (path, text) in files.sorted(by: { $0.key < $1.key }) {
            for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            where line.contains("bad") && exit == 0 {
                output += "\(path):\(number + 1):1: warning: this is bad [-Wbad]\n"
            }
        }
        let plays = configurations.map { Commit.playing(.building, of: $0, output: output, exit: exit) }
        return plays.reduce(Commit(files: files)) { $0.and($1) }
    }

    private static let filler = (1...20).map { "int line\($0);\n" }.joined()

    private func lives(_ integration: Integrated) -> [String] {
        integration.issues.filter { $0.finding.category == .warning }.map { issue in
            "\(issue.status) \(issue.age) since \(issue.since ?? 0) \(issue.finding.path ?? ""):\(issue.finding.line ?? 0)"
        }
    }

    @Test(.proves(.issueHistory, "Fingerprints survive renamed files, and code that moves to another file"))
    func testThatAnIssueLivesThroughMovesRenamesAndFailedBuilds() async throws {
        try await withBot(configurations: ["debug"]) { bot in
            // given
            let first = try await bot.integrate(Self.commit(["a.c": Self.filler + "bad();\n"]))
            #expect(lives(first) == ["new 1 since 1 a.c:21"])
            let name = first.issues[0].fingerprint
            // when lines are put before it
            let moved = try await bot.integrate(Self.commit(["a.c": "int x;\n" + Self.filler + "    bad();\n"]))
            #expect(lives(moved) == ["unresolved 2 since 1 a.c:22"])
            // The file is renamed in a commit that does not build
            let renamed = "int x;\n" + Self.filler + "    bad();\n"
            let broken = try await bot.integrate(
                Self.commit(["deep/b.c": renamed], exit: 1), removing: ["a.c"])
            #expect(lives(broken) == ["unresolved 3 since 1 deep/b.c:22"])
            // Lines are put before it again
            let built = try await bot.integrate(Self.commit(["deep/b.c": "int y;\nint z;\n" + renamed]))
            // then
            #expect(lives(built) == ["unresolved 4 since 1 deep/b.c:24"])
            #expect([moved, broken, built].allSatisfy { $0.issues.contains { $0.fingerprint == name } })
            // Code that moves to another file has the same issue
            let parted = try await bot.integrate(
                Self.commit(["deep/b.c": "int y;\nint z;\nint x;\n" + Self.filler, "c.c": "// new\nbad();\n"]))
            #expect(lives(parted) == ["unresolved 5 since 1 c.c:2"])
            #expect(parted.issues[0].fingerprint == name)
            // It ends when it is gone
            let gone = try await bot.integrate(Self.commit(["c.c": "good();\n"]))
            #expect(lives(gone) == ["resolved 0 since 1 c.c:2"])
            #expect(lives(try await bot.integrate(Self.commit(["c.c": "good();\n"]))) == [])
            let back = try await bot.integrate(Self.commit(["c.c": "bad();\n"]))
            #expect(lives(back) == ["new 1 since 8 c.c:1"])
        }
    }

    @Test(.proves(.issueHistory, "Fingerprints survive moved lines"))
    func testThatAnEqualOneAboveIsTheNewOne() async throws {
        try await withBot(configurations: ["debug"]) { bot in
            let first = try await bot.integrate(Self.commit(["a.c": Self.filler + "bad();\n"]))
            let second = try await bot.integrate(Self.commit(["a.c": "bad();\n" + Self.filler + "bad();\n"]))
            #expect(lives(second).sorted() == ["new 1 since 2 a.c:1", "unresolved 2 since 1 a.c:22"])
            #expect(second.issues.first { $0.status == .unresolved }?.fingerprint == first.issues[0].fingerprint)
            #expect(Set(second.issues.map(\.fingerprint)).count == 2)
        }
    }

    @Test(.proves(.issueHistory, "New, unresolved, resolved; nothing is resolved by absence"))
    func testThatARerunIsTheSame() async throws {
        try await withBot(configurations: ["debug"]) { bot in
            // given
            _ = try await bot.integrate(Self.commit(["a.c": Self.filler + "bad();\n"]))
            let second = try await bot.integrate(
                Self.commit(["b.c": Self.filler + "bad();\nbad();\n"]), removing: ["a.c"])
            // when
            _ = try await bot.operations.rerun(second.id, Rerun(), by: "ada")
            let again = try await bot.completion(of: second.id)
            // then
            #expect(again.attempts.count == 2)
            #expect(again.issues == second.issues)
            #expect(lives(again).sorted() == ["new 1 since 2 b.c:22", "unresolved 2 since 1 b.c:21"])
        }
    }

    @Test(.proves(.issueHistory, "Fingerprints are the same in other configurations"))
    func testThatTwoConfigurationsAreOneIssueAndAThirdJoinsIt() async throws {
        try await withBot(configurations: ["debug", "release"]) { bot in
            let first = try await bot.integrate(Self.commit(["a.c": "bad();\n"]))
            let both = try await bot.integrate(Self.commit(["a.c": "int x;\nbad();\n"], of: ["debug", "release"]))
            #expect(first.issues.map { $0.configurations.map(\.description) } == [["debug"]])
            #expect(both.issues.map { $0.configurations.map(\.description) } == [["debug", "release"]])
            #expect(lives(both) == ["unresolved 2 since 1 a.c:2"])
        }
    }

    @Test(
        .proves(
            .issueHistory,
            "An issue's suspect has a confidence, is shown on page, command line and API, and is carried on"))
    func testThatTheSuspectIsStoredAndCarriedOn() async throws {
        try await withBot(configurations: ["debug"]) { bot in
            // given
            _ = try await bot.integrate(Self.commit(["a.c": Self.filler]))
            // when
            let guilty = try await bot.integrate(Self.commit(["a.c": Self.filler + "bad();\n"]))
            let later = try await bot.integrate(Self.commit(["a.c": "int x;\n" + Self.filler + "bad();\n"]))
            // then
            let expected = Introduction(
                commit: guilty.record.commit, author: "Ada Author", email: "ada@acme.example",
                strategy: .blameLineAgainstCommits, confidence: .high)
            #expect(guilty.issues.map(\.introducedBy) == [expected])
            #expect(later.issues.map(\.introducedBy) == [expected])
        }
    }

    @Test(
        .proves(
            .issueHistory,
            "An issue's suspect has a confidence, is shown on page, command line and API, and is carried on"))
    func testThatNoCommitIsToBlameForTheSameCommitAgain() async throws {
        // given: a machine that becomes faulty
        let isBad = Locked(false)
        let usual = ScriptedExecutor.playing()
        let executor = ScriptedExecutor { job in
            guard isBad.value else { return usual.plan(job) }
            return ScriptedExecutor.Plan { _, step in
                .init(output: step.step == "building" ? "a.c:1:1: warning: bad clock [-Wclock]\n" : "")
            }
        }
        try await withBot(BotPlan(configurations: ["debug"], executor: .scripted(executor))) { bot in
            let green = try await bot.integrate(Self.commit(["a.c": "int x;\n"]))
            isBad.withLock { $0 = true }
            // when the same commit is integrated again
            let again = try await bot.operations.integrate(
                bot: bot.name, revision: green.record.commit.description, isClean: false, by: "ada")
            let red = try await bot.completion(of: again.id)
            // then
            #expect(lives(red) == ["new 1 since 2 a.c:1"])
            #expect(red.issues.map(\.introducedBy).allSatisfy { $0 == nil })
        }
    }

    @Test(
        .proves(
            .issueHistory,
            "A branch's first integration is compared with that of the commit where it left its parent, so that old findings are not new"
        ))
    func testThatANewBranchBeginsWithTheIssuesOfWhereItLeftItsParent() async throws {
        try await withBot(BotPlan(configurations: ["debug"], file: "branches: [main, 'topic/*']\n")) { bot in
            // given: the branch leaves main before main becomes worse
            _ = try await bot.integrate(Self.commit(["a.c": "bad();\n"]))
            try await bot.work.branch("start")
            let worse = try await bot.integrate(Self.commit(["b.c": "int x;\nbad();\n"]))
            #expect(lives(worse).sorted() == ["new 1 since 2 b.c:2", "unresolved 2 since 1 a.c:1"])
            try await bot.work.checkout("start")
            // when
            let first = try await bot.integrate(
                Self.commit(["a.c": "int y;\nbad();\n", "c.c": "bad();\n"]), on: "topic/one")
            // then
            #expect(lives(first).sorted() == ["new 1 since 3 c.c:1", "unresolved 2 since 1 a.c:2"])
            #expect(first.record.summary?.change.warnings == 1)
            // when
            let second = try await bot.integrate(Self.commit(["c.c": "good();\n"]), on: "topic/one")
            // then
            #expect(lives(second).sorted() == ["resolved 0 since 3 c.c:1", "unresolved 3 since 1 a.c:2"])
        }
    }
}
