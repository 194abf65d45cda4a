import Model
import SourceControl
import TestSupport
import Testing

@testable import Issues

/// Each of the seven strategies, with its confidence.
@Suite struct SuspectSearchTests {
    /// A repository in which several people work, and its mirror.
    private struct Team {
        let origin: GitRepository
        let mirror: Mirror
        /// The time of the first commit, a year before the others.
        static let longAgo = Timestamp(secondsSinceEpoch: 1_735_689_600)

        /// Commits as an author, whose address is made from the name.
        @discardableResult
        func commit(
            _ person: String, _ files: [String: String], removing: [String] = [], date: Timestamp? = nil
        ) async throws -> CommitID {
            _ = try await origin.commit(files: files, removing: removing, message: "By \(person)", date: date)
            let when = date ?? Timestamp(secondsSinceEpoch: 1_767_225_600)
            try await origin.git(
                [
                    "commit", "-q", "--amend", "--no-edit", "--author",
                    "\(person) <\(person.lowercased())@acme.example>",
                ],
                date: when)
            return try await origin.head()
        }

        /// Returns the suspect of an issue that is new since `from`: `STRATEGY CONFIDENCE PERSON`, or `nobody`.
        func suspect(
            _ path: String?, line: Int? = nil, category: Finding.Category = .warning, since from: CommitID?
        ) async throws -> String {
            let tip = try await origin.head()
            _ = try await mirror.scan()
            try await mirror.fetch([RefName(branch: "main"): tip])
            let finding = Finding(category: category, message: "m", rule: "r", path: path, line: line)
            let issue = Model.Issue(
                fingerprint: "f", content: "c", status: .new, finding: finding, age: 1, configurations: [])
            let search = SuspectSearch(mirror: mirror, from: from, to: tip, guessing: TestLimits.wait)
            guard let found = try await search.introductions(of: [issue])["f"] else { return "nobody" }
            #expect(found.email == "\(found.author.lowercased())@acme.example")
            return "\(found.strategy) \(found.confidence) \(found.author)"
        }
    }

    private func withTeam(_ body: (Team) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let origin = try await GitRepository.make(at: directory.path("origin/kit"))
            let mirrors = Mirrors(
                directory: directory.path("repositories"), configuration: GitConfiguration(files: []))
            let mirror = mirrors.mirror(of: try RemoteURL(origin.path, isInsecureAllowed: false))
            try await body(Team(origin: origin, mirror: mirror))
        }
    }

    @Test(
        .proves(
            .issueHistory,
            "An issue's suspect is found by the line's blame, then the file's commits, then the single author: seven strategies"
        ))
    func testThatTheLinesCommitIsTheSuspect() async throws {
        try await withTeam { team in
            let first = try await team.commit("Ada", ["a.c": "1\n2\n3\n", "b.c": "1\n"])
            try await team.commit("Bob", ["a.c": "1\nbad\n2\n3\n"])
            try await team.commit("Eve", ["a.c": "0\n1\nbad\n2\n3\n"])
            #expect(try await team.suspect("a.c", line: 3, since: first) == "blameLineAgainstCommits high Bob")
            #expect(try await team.suspect("a.c", line: 1, since: first) == "blameLineAgainstCommits high Eve")
        }
    }

    @Test func testThatALineOfARenamedFileIsItsWriters() async throws {
        try await withTeam { team in
            let text = (1...20).map { "\($0)\n" }.joined()
            let first = try await team.commit("Ada", ["a.c": text])
            try await team.commit("Bob", ["a.c": "bad\n" + text])
            try await team.commit("Eve", ["deep/z.c": "bad\n" + text], removing: ["a.c"])
            #expect(try await team.suspect("deep/z.c", line: 1, since: first) == "blameLineAgainstCommits high Bob")
            #expect(
                try await team.suspect("deep/z.c", line: 5, since: first) == "fileHasBeenModifiedByCommits low Eve")
        }
    }

    @Test func testThatAReindentedLineIsItsWriters() async throws {
        try await withTeam { team in
            let first = try await team.commit("Ada", ["a.c": "1\n"])
            try await team.commit("Bob", ["a.c": "1\nbad\n"])
            try await team.commit("Eve", ["a.c": "  1\n  bad\n"])
            #expect(try await team.suspect("a.c", line: 2, since: first) == "blameLineAgainstCommits high Bob")
        }
    }

    @Test(
        .proves(
            .issueHistory,
            "An issue's suspect is found by the line's blame, then the file's commits, then the single author: seven strategies"
        ))
    func testThatTheFilesCommitIsTheSuspectOfAnOldLine() async throws {
        try await withTeam { team in
            let first = try await team.commit("Ada", ["a.c": "1\n2\n3\n", "b.c": "1\n"])
            try await team.commit("Bob", ["a.c": "1\nother\n3\n"])
            let second = try await team.commit("Eve", ["b.c": "2\n"])
            #expect(try await team.suspect("a.c", line: 3, since: first) == "fileHasBeenModifiedByCommits high Bob")
            #expect(try await team.suspect("a.c", since: first) == "fileHasBeenModifiedByCommits high Bob")
            #expect(
                try await team.suspect("a.c", line: 3, category: .testFailure, since: first)
                    == "fileHasBeenModifiedByCommits low Bob")
            // If two commits changed it, the newest is a guess.
            try await team.commit("Ada", ["a.c": "1\nagain\n3\n"])
            #expect(try await team.suspect("a.c", line: 3, since: first) == "fileHasBeenModifiedByCommits low Ada")
            #expect(try await team.suspect("a.c", line: 3, since: second) == "fileHasBeenModifiedByCommits high Ada")
        }
    }

    @Test(
        .proves(
            .issueHistory,
            "An issue's suspect is found by the line's blame, then the file's commits, then the single author: seven strategies"
        ))
    func testThatTheOnlyCommitIsTheSuspect() async throws {
        try await withTeam { team in
            let first = try await team.commit("Ada", ["a.c": "1\n", "b.c": "1\n"])
            try await team.commit("Bob", ["b.c": "2\n"])
            for path in ["a.c", nil, "/usr/include/x.h"] {
                #expect(try await team.suspect(path, line: 1, since: first) == "singleCommitInIntegration high Bob")
            }
        }
    }

    @Test(
        .proves(
            .issueHistory,
            "An issue's suspect is found by the line's blame, then the file's commits, then the single author: seven strategies"
        ))
    func testThatTheOnlyPersonIsTheSuspect() async throws {
        try await withTeam { team in
            let first = try await team.commit("Ada", ["a.c": "1\n", "b.c": "1\n"])
            try await team.commit("Bob", ["b.c": "2\n"])
            try await team.commit("Bob", ["b.c": "3\n"])
            #expect(
                try await team.suspect("a.c", line: 1, since: first)
                    == "multipleCommitsSingleUserInIntegration low Bob")
            try await team.commit("Eve", ["b.c": "4\n"])
            #expect(try await team.suspect(nil, since: first) == "nobody")
        }
    }

    @Test(
        .proves(
            .issueHistory,
            "An issue's suspect is searched from the integration before, or from the common ancestor after a forced push, within limits"
        ))
    func testThatAMergeIsNobodysOwn() async throws {
        try await withTeam { team in
            let first = try await team.commit("Ada", ["a.c": "1\n", "b.c": "1\n"])
            try await team.origin.branch("side")
            try await team.commit("Bob", ["b.c": "2\n"])
            try await team.origin.checkout("main")
            try await team.origin.git(
                ["merge", "-q", "--no-ff", "-m", "Merge", "side"], date: Timestamp(secondsSinceEpoch: 1_767_300_000))
            #expect(try await team.suspect("a.c", line: 1, since: first) == "singleCommitInIntegration high Bob")
            #expect(try await team.suspect("b.c", line: 1, since: first) == "blameLineAgainstCommits high Bob")
        }
    }

    @Test(
        .proves(
            .issueHistory,
            "An issue's suspect is found by the line's blame, then the file's commits, then the single author: seven strategies"
        ))
    func testThatWithoutCommitsTheHistoryIsAsked() async throws {
        try await withTeam { team in
            try await team.commit("Ada", ["a.c": "1\n2\n", "b.c": "1\n"])
            try await team.commit("Bob", ["a.c": "1\n2\n3\n"])
            #expect(try await team.suspect("a.c", line: 2, since: nil) == "blameLine low Ada")
            #expect(try await team.suspect("a.c", since: nil) == "lastCommitFromFile low Bob")
            #expect(try await team.suspect("absent.c", line: 2, since: nil) == "nobody")
            #expect(try await team.suspect(nil, since: nil) == "nobody")
        }
    }

    @Test(
        .proves(
            .issueHistory,
            "An issue's suspect is found by the line's blame, then the file's commits, then the single author: seven strategies"
        ))
    func testThatAnOldFileIsOfWhoeverChangedItMost() async throws {
        try await withTeam { team in
            for number in 0..<3 { try await team.commit("Ada", ["a.c": "\(number)\n"], date: Team.longAgo) }
            try await team.commit("Bob", ["a.c": "bob\n"], date: Team.longAgo)
            try await team.commit("Eve", ["b.c": "1\n"])
            #expect(try await team.suspect("a.c", since: nil) == "mostCommitterInFile low Ada")
        }
    }

    @Test(
        .proves(
            .issueHistory,
            "An issue's suspect is searched from the integration before, or from the common ancestor after a forced push, within limits"
        ))
    func testThatABranchMovedByForceIsComparedFromTheCommonAncestor() async throws {
        try await withTeam { team in
            // given: a commit of Bob's, which Eve's replaces
            let first = try await team.commit("Ada", ["a.c": "1\n2\n", "b.c": "1\n"])
            let gone = try await team.commit("Bob", ["a.c": "1\n2\nbob\n"])
            #expect(try await team.suspect("a.c", line: 3, since: first) == "blameLineAgainstCommits high Bob")
            try await team.origin.git("reset", "-q", "--hard", first.description)
            try await team.commit("Eve", ["a.c": "eve\n1\n2\n"])
            // then
            #expect(try await team.suspect("a.c", line: 1, since: gone) == "blameLineAgainstCommits high Eve")
            #expect(try await team.suspect("b.c", line: 1, since: gone) == "singleCommitInIntegration high Eve")
        }
    }

    @Test func testThatABaseThatIsNotThereIsNoBase() async throws {
        try await withTeam { team in
            try await team.commit("Ada", ["a.c": "1\n"])
            try await team.commit("Bob", ["a.c": "1\n2\n"])
            let unknown = try #require(CommitID("00000000000000000000000000000000000000aa"))
            #expect(try await team.suspect("a.c", line: 1, since: unknown) == "blameLine low Ada")
        }
    }

    @Test(.proves(.issueHistory, "An author's hostile text is cut and escaped"))
    func testThatAnAuthorsNameIsCut() async throws {
        try await withTeam { team in
            try await team.commit("Ada", ["a.c": "1\n"])
            let name = String(repeating: "n", count: 5000)
            try await team.origin.git(
                ["commit", "-q", "--amend", "--no-edit", "--author", "\(name) <ada@acme.example>"],
                date: Timestamp(secondsSinceEpoch: 1_767_225_600))
            let tip = try await team.origin.head()
            try await team.mirror.fetch([RefName(branch: "main"): tip])
            let issue = Model.Issue(
                fingerprint: "f", status: .new,
                finding: Finding(category: .warning, message: "m", path: "a.c", line: 1), age: 1, configurations: [])
            let found = try await SuspectSearch(mirror: team.mirror, from: nil, to: tip, guessing: TestLimits.wait)
                .introductions(of: [issue])
            #expect(found["f"]?.author.utf8.count == Introduction.maximumAuthorBytes)
        }
    }
}
