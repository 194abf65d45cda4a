import Model
import SourceControl
import TestSupport
import Testing

/// Merges that are made in the mirror, of commits that both come from elsewhere.
@Suite struct MergeTests {
    private static func git(_ fixture: Fixture, _ arguments: String...) async throws -> String {
        try await runExpectingSuccess(["git", "-C", fixture.mirror.path] + arguments)
    }

    @Suite struct GivenTwoThatMerge {
        @Test(
            .proves(
                .intake, "Pull requests: the merge of base and head that libgit2 makes, the same commit in every run"))
        func testThatItIsTheMergeThatGitMakes() async throws {
            try await withOrigin(["a": "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "old/name": "text\nof\na\nfile\n"]) { fixture in
                // given: a line changed on each side, and a file renamed on one that was changed on the other
                let (base, head) = try await fixture.diverge(
                    main: ["a": "one\n2\n3\n4\n5\n6\n7\n8\n9\n", "old/name": "text\nof\na\nfile!\n"],
                    side: ["a": "1\n2\n3\n4\n5\n6\n7\n8\nnine\n", "new/name": "text\nof\na\nfile\n"],
                    removing: ["old/name"])

                // when
                let outcome = try await fixture.mirror.merge(head, into: base)

                // then
                let merge = try #require(outcome.commit)
                try await fixture.origin.git("merge", "-q", "--no-ff", "-m", "By git", "side")
                let (ours, theirs) = (
                    try await MergeTests.git(fixture, "rev-parse", "\(merge)^{tree}"),
                    try await fixture.origin.git("rev-parse", "HEAD^{tree}")
                )
                #expect(ours == theirs + "\n")
                #expect(
                    try await MergeTests.git(fixture, "rev-parse", "\(merge)^1", "\(merge)^2") == "\(base)\n\(head)\n")
                try await runExpectingSuccess(["git", "-C", fixture.mirror.path, "fsck", "--full", "--strict"])
            }
        }

        @Test(
            .proves(
                .intake, "Pull requests: the merge of base and head that libgit2 makes, the same commit in every run"))
        func testThatTheSameTwoMakeTheSameCommitInAnyMirror() async throws {
            try await withOrigin { fixture in
                // given
                let (base, head) = try await fixture.diverge(main: ["a": "1\n"], side: ["b": "2\n"])
                let other = try fixture.other(.program)
                try await other.fetch([fixture.main: base, RefName(branch: "side"): head])

                // when
                let merges = [
                    try await fixture.mirror.merge(head, into: base), try await fixture.mirror.merge(head, into: base),
                    try await other.merge(head, into: base),
                ]

                // then: with the head's time and our names, so the id is the same in every run
                #expect(Set(merges).count == 1)
                let merge = try #require(merges.first?.commit)
                let who = try await MergeTests.git(fixture, "show", "-s", "--format=%an %ae %cn %ce", "\(merge)")
                #expect(who == "Martlet martlet@localhost Martlet martlet@localhost\n")
                let times = try await MergeTests.git(fixture, "show", "-s", "--format=%at %ct", "\(merge)", "\(head)")
                let lines = times.split(separator: "\n")
                #expect(lines.count == 2 && lines[0] == lines[1])
            }
        }

        @Test func testThatAHeadThatOnlyGoesOnIsMergedToo() async throws {
            try await withOrigin { fixture in
                // given
                let base = try await fixture.origin.head()
                try await fixture.origin.branch("side")
                let head = try await fixture.origin.commit(files: ["b": "2\n"])
                try await fixture.mirror.fetch([fixture.main: base, RefName(branch: "side"): head])

                // when
                let outcome = try await fixture.mirror.merge(head, into: base)

                // then: it is a separate commit, so it is never taken for the head itself
                let merge = try #require(outcome.commit)
                #expect(merge != head)
                let trees = try await MergeTests.git(
                    fixture, "rev-parse", "\(merge)^{tree}", "\(head)^{tree}")
                #expect(Set(trees.split(separator: "\n")).count == 1)
            }
        }

        @Test func testThatItSurvivesAsLongAsItIsHeld() async throws {
            try await withOrigin { fixture in
                // given
                let (base, head) = try await fixture.diverge(main: ["a": "1\n"], side: ["b": "2\n"])
                let merge = try #require(try await fixture.mirror.merge(head, into: base).commit)

                // when
                try await fixture.mirror.hold(merge, for: try #require(IntegrationID("kit#7")))
                try await runExpectingSuccess(["git", "-C", fixture.mirror.path, "gc", "--prune=now", "-q"])

                // then
                #expect(try await fixture.mirror.contains(merge))
                _ = try await fixture.mirror.checkout(
                    merge, ref: RefName(pullRequest: 7), into: fixture.workspace, state: fixture.state)
                #expect(try fixture.tree() == ["README": "kit\n", "a": "1\n", "b": "2\n"])
                #expect(try await runExpectingSuccess(["cat", fixture.workspace + "/.git/HEAD"]) == "\(merge)\n")
            }
        }
    }

    @Suite struct GivenTwoThatDoNot {
        @Test(
            .proves(
                .intake, "Pull requests: the merge of base and head that libgit2 makes, the same commit in every run"))
        func testThatItSaysInWhichFiles() async throws {
            try await withOrigin(["a": "1\n", "b": "1\n"]) { fixture in
                // given: both changed one file, and one removed a file that the other changed
                let (base, head) = try await fixture.diverge(
                    main: ["a": "main\n", "b": "main\n"], side: ["a": "side\n"], removing: ["b"])

                // when
                let outcome = try await fixture.mirror.merge(head, into: base)

                // then
                #expect(outcome == .conflicts(paths: ["a", "b"], count: 2))
            }
        }

        @Test func testThatItNamesOnlyTheFirst() async throws {
            let names = (0..<8).map { "file-\($0)" }
            try await withOrigin(Dictionary(uniqueKeysWithValues: names.map { ($0, "1\n") })) { fixture in
                // given
                let (base, head) = try await fixture.diverge(
                    main: Dictionary(uniqueKeysWithValues: names.map { ($0, "main\n") }),
                    side: Dictionary(uniqueKeysWithValues: names.map { ($0, "side\n") }))

                // when
                let outcome = try await fixture.mirror.merge(head, into: base)

                // then
                #expect(outcome == .conflicts(paths: Array(names.prefix(5)), count: 8))
            }
        }

        @Test func testThatACommitThatIsNotHereIsAnError() async throws {
            try await withOrigin { fixture in
                // given
                let base = try await fixture.fetch()
                let other = try #require(CommitID(String(repeating: "ab", count: 20)))

                // when, then
                await expectRejection(SourceControlError.self, \.code, .commitMissing) {
                    _ = try await fixture.mirror.merge(other, into: base)
                }
            }
        }
    }

    @Suite struct GivenSubmodules {
        /// A commit at a path is a submodule, whether it can be fetched or not.
        @Test(
            .proves(
                .intake,
                "Pull requests: a fork has no secrets, no triggers, the base's recipe, a workspace and caches that are removed, network by policy (U1)"
            ),
            arguments: [
                (
                    files: [".gitmodules": "[submodule \"x\"]\n\tpath = x\n\turl = https://secret.example/x\n"],
                    link: false
                ),
                (files: ["other": "1\n"], link: true),
            ])
        func testU1ThatAnotherAddressOrCommitIsADifference(
            _ change: (files: [String: String], link: Bool)
        ) async throws {
            try await withOrigin { fixture in
                // given
                let (base, _) = try await fixture.diverge(main: ["a": "1\n"], side: ["b": "2\n"])
                try await fixture.origin.branch("other")
                if change.link {
                    try await fixture.origin.git("update-index", "--add", "--cacheinfo", "160000,\(base),x")
                    try await fixture.origin.git("commit", "-q", "-m", "Link")
                } else {
                    _ = try await fixture.origin.commit(files: change.files)
                }
                let head = try await fixture.origin.head()
                try await fixture.mirror.fetch([RefName(branch: "other"): head])

                // when, then
                #expect(try await fixture.mirror.haveOtherSubmodules(base, head))
                #expect(try await !fixture.mirror.haveOtherSubmodules(head, head))
            }
        }

        @Test func testThatOtherFilesAreNone() async throws {
            try await withOrigin { fixture in
                // given
                let (base, head) = try await fixture.diverge(
                    main: ["a": "1\n"], side: ["b": "2\n", "x/.gitmodules": "text\n"])

                // when, then
                #expect(try await !fixture.mirror.haveOtherSubmodules(base, head))
            }
        }
    }
}

extension MergeOutcome {
    /// The merge; `nil` if there is none.
    fileprivate var commit: CommitID? { if case .merged(let commit) = self { commit } else { nil } }
}
