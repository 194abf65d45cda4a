import Basics
import CLibGit2
import Model
import SourceControl
import TestSupport
import Testing

/// The `.git` that the job sees.
@Suite struct WorkspaceGitTests {
    @Test(.proves(.sourceControl, "The job's generated `.git`: HEAD, this ref, its tags"))
    func testThatGitDescribesTheWorkspaceAndFindsItClean() async throws {
        try await withOrigin([".gitignore": ".build\n", "a": "1\n", "run": "#!/bin/sh\n"]) { fixture in
            // given
            try await fixture.origin.tag("1.0.0", message: "One")
            let commit = try await fixture.origin.commit(files: ["b": "2\n"], message: "Second")

            // when
            _ = try await fixture.checkout()

            // then
            func git(_ arguments: String...) async throws -> String {
                let output = try await runExpectingSuccess(
                    ["git"] + arguments, in: fixture.workspace, environment: GitRepository.environment())
                return String(output.dropLast())
            }
            #expect(try await git("rev-parse", "HEAD") == commit.description)
            #expect(try await git("symbolic-ref", "HEAD") == "refs/heads/main")
            #expect(try await git("describe", "--dirty").hasPrefix("1.0.0-1-g\(commit.abbreviated.prefix(7))"))
            #expect(try await git("describe", "--dirty").hasSuffix("dirty") == false)
            #expect(try await git("status", "--porcelain") == "")
            #expect(try await git("log", "--format=%s") == "Second\nFirst")
            #expect(try fixture.status(".git")?.mode == 0o555)
            #expect(try fixture.status(".git/config")?.mode == 0o444)
        }
    }

    @Test(
        .proves(
            .jobs,
            "A job knows the commit to compare with; its `.git` has the default branch and a pull request's base, named as in a clone"
        ))
    func testThatTheServersBranchesAreThereByTheNamesOfAClone() async throws {
        try await withOrigin { fixture in
            // given: a topic, and a branch that the mirror does not have
            let main = try await fixture.fetch()
            try await fixture.origin.branch("topic")
            let topic = try await fixture.origin.commit(files: ["b": "2\n"], message: "Topic")
            try await fixture.mirror.fetch([RefName(branch: "topic"): topic])
            let upstream = UpstreamRefs(
                branches: [
                    RefName(branch: "main"): main,
                    RefName(branch: "gone"): try #require(CommitID(String(repeating: "1", count: 40))),
                ],
                defaultBranch: RefName(branch: "main"))
            func git(_ arguments: String...) async throws -> String {
                try await runExpectingSuccess(
                    ["git"] + arguments, in: fixture.workspace, environment: GitRepository.environment())
            }
            for _ in 0..<2 {
                // when
                _ = try await fixture.mirror.checkout(
                    topic, ref: RefName(branch: "topic"), into: fixture.workspace, state: fixture.state,
                    upstream: upstream)
                // then
                for name in ["origin/main", "origin/HEAD", "origin"] {
                    #expect(try await git("merge-base", name, "HEAD") == "\(main)\n", "\(name)")
                }
                #expect(try await git("diff", "--name-only", "origin/main...HEAD") == "b\n")
                #expect(try await git("symbolic-ref", "refs/remotes/origin/HEAD") == "refs/remotes/origin/main\n")
                #expect(
                    try await git("for-each-ref", "--format=%(refname)")
                        == "refs/heads/topic\nrefs/remotes/origin/HEAD\nrefs/remotes/origin/main\n")
                #expect(try await git("status", "--porcelain") == "")
                #expect(try fixture.status(".git/refs/remotes/origin/HEAD")?.mode == 0o444)
            }
        }
    }

    @Test(
        .proves(
            .jobs,
            "A job knows the commit to compare with; its `.git` has the default branch and a pull request's base, named as in a clone"
        ))
    func testThatADefaultBranchThatMovesOrIsNotHereIsNoOldOne() async throws {
        try await withOrigin { fixture in
            // given
            let first = try await fixture.fetch()
            let second = try await fixture.origin.commit(files: ["b": "2\n"], message: "Second")
            try await fixture.mirror.fetch([RefName(branch: "main"): second])
            let unknown = try #require(CommitID(String(repeating: "1", count: 40)))
            func origin(at commit: CommitID) async throws -> String {
                _ = try await fixture.mirror.checkout(
                    first, ref: RefName(branch: "topic"), into: fixture.workspace, state: fixture.state,
                    upstream: .init(
                        branches: [RefName(branch: "main"): commit], defaultBranch: RefName(branch: "main")))
                return try await run(
                    ["git", "rev-parse", "-q", "--verify", "origin/HEAD"], in: fixture.workspace,
                    environment: GitRepository.environment()
                ).stdout
            }
            // then
            #expect(try await origin(at: first) == "\(first)\n")
            #expect(try await origin(at: second) == "\(second)\n")
            #expect(try await origin(at: unknown) == "")
            #expect(try await origin(at: second) == "\(second)\n")
        }
    }

    @Test func testThatATagIsCheckedOutDetached() async throws {
        try await withOrigin { fixture in
            try await fixture.origin.tag("v1")
            _ = try await fixture.checkout(RefName(tag: "v1"))
            let head = try await run(
                ["git", "describe", "--exact-match"], in: fixture.workspace,
                environment: GitRepository.environment())
            // A lightweight tag: describe needs --tags.
            #expect(head.status != 0)
            let tags = try await runExpectingSuccess(
                ["git", "describe", "--tags"], in: fixture.workspace, environment: GitRepository.environment())
            #expect(tags == "v1\n")
        }
    }

    @Test(.proves(.sourceControl, "The job's generated `.git`: HEAD, this ref, its tags"))
    func testThatATagOfACommitThatIsHereIsThereAllTheSame() async throws {
        try await withOrigin { fixture in
            // given: a mirror that has the commit, and no ref but the branch
            let commit = try await fixture.fetch()
            try await fixture.origin.tag("v1.2.3", message: "Annotated")
            let tag = RefName(tag: "v1.2.3")

            // when
            _ = try await fixture.mirror.checkout(
                commit, ref: tag, into: fixture.workspace, state: fixture.state)

            // then
            let described = try await runExpectingSuccess(
                ["git", "describe", "--tags", "--exact-match"], in: fixture.workspace,
                environment: GitRepository.environment())
            #expect(described == "v1.2.3\n")
        }
    }

    @Test(.proves(.sourceControl, "The job's generated `.git`: HEAD, this ref, its tags"))
    func testThatATagThatWasMovedIsTheJobsOwn() async throws {
        try await withOrigin { fixture in
            // given: the mirror has the tag at the second commit, and the job is of the first
            let first = try await fixture.origin.head()
            _ = try await fixture.origin.commit(files: ["b": "2\n"])
            try await fixture.origin.tag("v1", message: "Annotated")
            let tag = RefName(tag: "v1")
            try await fixture.fetch(tag)

            // when
            _ = try await fixture.mirror.checkout(first, ref: tag, into: fixture.workspace, state: fixture.state)

            // then
            let found = try await runExpectingSuccess(
                ["git", "rev-parse", "v1^{commit}"], in: fixture.workspace,
                environment: GitRepository.environment())
            #expect(found == "\(first)\n")
        }
    }

    @Test(
        .proves(
            .sourceControl,
            "A checkout of the same commit leaves the job's `.git` alone, unless somebody has touched it"))
    func testThatItIsLeftAloneAsLongAsNothingChanges() async throws {
        try await withOrigin { fixture in
            // given
            _ = try await fixture.checkout()
            let before = try fixture.status(".git/index")

            // when: nothing has changed
            _ = try await fixture.checkout()
            // then
            #expect(try fixture.status(".git/index") == before)

            // when: a job has written into it
            try await runExpectingSuccess(
                [
                    "sh", "-c",
                    "chmod u+w .git/objects/info && touch .git/objects/info/x && chmod u-w .git/objects/info",
                ],
                in: fixture.workspace)
            _ = try await fixture.checkout()
            // then
            #expect(try fixture.status(".git/objects/info/x") == nil)
            #expect(try fixture.status(".git/index") != before)

            // when: another ref has the commit
            try await fixture.origin.tag("v1")
            _ = try await fixture.checkout(RefName(tag: "v1"))
            // then
            let head = try await runExpectingSuccess(["cat", ".git/HEAD"], in: fixture.workspace)
            #expect(!head.hasPrefix("ref:"))
        }
    }

    @Test(
        .proves(
            .sourceControl,
            "A checkout of another commit writes HEAD, `packed-refs` and the index of it alone, unless somebody has touched it"
        ))
    func testThatWhatACommitDoesNotChangeOfItStaysUnlessSomebodyTouchedIt() async throws {
        try await withOrigin([".gitignore": ".build\n", "a": "1\n"]) { fixture in
            func git(_ arguments: String...) async throws -> String {
                // Root may write where a job may not, so `status` would refresh the index.
                try await runExpectingSuccess(
                    ["git", "--no-optional-locks"] + arguments, in: fixture.workspace,
                    environment: GitRepository.environment())
            }
            // given
            _ = try await fixture.checkout()
            let names = ["config", "HEAD", "objects", "objects/info/alternates", "info/exclude", "refs/heads"]
            let before = try names.map { try fixture.status(".git/" + $0) }

            // when: another commit is checked out, and then another branch
            let second = try await fixture.origin.commit(files: ["a": "2\n", "b": "2\n"], message: "Second")
            _ = try await fixture.checkout()
            // then
            #expect(try names.map { try fixture.status(".git/" + $0) } == before)
            #expect(try await git("rev-parse", "HEAD") == "\(second)\n")
            #expect(try await git("status", "--porcelain") == "")
            #expect(try fixture.status(".git")?.mode == 0o555)

            // when
            try await fixture.origin.git("checkout", "-q", "-b", "other")
            let third = try await fixture.origin.commit(files: ["c": "3\n"], message: "Third")
            _ = try await fixture.checkout(RefName(branch: "other"))
            // then
            #expect(try await git("symbolic-ref", "HEAD") == "refs/heads/other\n")
            #expect(try await git("rev-parse", "HEAD") == "\(third)\n")
            #expect(try await git("status", "--porcelain") == "")
            #expect(try fixture.status(".git/config") == before[0])

            // when: a job writes into it, and one more commit is checked out
            try await runExpectingSuccess(
                ["sh", "-c", "chmod u+w .git .git/config && git config core.fsmonitor ./evil && chmod u-w .git"],
                in: fixture.workspace, environment: GitRepository.environment())
            _ = try await fixture.origin.commit(files: ["c": "4\n"], message: "Fourth")
            _ = try await fixture.checkout(RefName(branch: "other"))
            // then
            let configuration = try await runExpectingSuccess(["cat", ".git/config"], in: fixture.workspace)
            #expect(!configuration.contains("evil"))
            #expect(try fixture.status(".git/objects") != before[2], "all of it is made anew")
            #expect(try await git("status", "--porcelain") == "")
        }
    }

    @Test(
        .proves(.sourceControl, "The job's generated `.git`: HEAD, this ref, its tags"),
        .proves(
            .sourceControl,
            "A checkout of the same commit leaves the job's `.git` alone, unless somebody has touched it"))
    func testThatWhatAJobDidToItIsGone() async throws {
        try await withOrigin { fixture in
            // given
            _ = try await fixture.checkout()
            let canary = try fixture.directory.write("canary/config", "untouched")
            try await runExpectingSuccess(
                [
                    "sh", "-c",
                    "chmod -R u+w .git && rm -rf .git && ln -s '\(fixture.directory.path("canary"))' .git",
                ],
                in: fixture.workspace)

            // when
            _ = try await fixture.checkout()

            // then
            expectFile(canary, "untouched")
            #expect(try Directory(opening: fixture.directory.path("canary")).entries().count == 1)
            #expect(try fixture.status(".git")?.kind == .directory)
        }
    }
}
