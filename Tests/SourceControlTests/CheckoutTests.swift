import Basics
import CLibGit2
import Model
import SourceControl
import TestSupport
import Testing

@Suite struct CheckoutTests {
    @Test func testThatItWritesEveryFileOfTheCommit() async throws {
        try await withOrigin(["README": "kit\n", "Sources/kit/a.swift": "let a = 1\n", "run": "#!/bin/sh\n"]) {
            fixture in
            // when
            let report = try await fixture.checkout()

            // then
            #expect(report.isFresh)
            #expect((report.written, report.unchanged, report.removed) == (3, 0, 0))
            #expect(
                try fixture.tree() == ["README": "kit\n", "Sources/kit/a.swift": "let a = 1\n", "run": "#!/bin/sh\n"])
            #expect(try fixture.status("run")?.mode == 0o755)
            #expect(try fixture.status("README")?.mode == 0o644)
        }
    }

    @Suite struct GivenACheckedOutWorkspace {
        @Test func testThatItLeavesUnchangedFilesAlone() async throws {
            try await withOrigin(["a": "1\n", "b": "2\n", "d/c": "3\n"]) { fixture in
                // given
                _ = try await fixture.checkout()
                let before = try #require(try fixture.status("d/c"))
                _ = try await fixture.origin.commit(files: ["a": "changed\n", "new": "4\n"], removing: ["b"])

                // when
                let report = try await fixture.checkout()

                // then
                #expect((report.written, report.removed, report.unchanged) == (2, 1, 1))
                #expect(!report.isFresh)
                #expect(try fixture.status("d/c") == before)
                #expect(try fixture.tree() == ["a": "changed\n", "new": "4\n", "d/c": "3\n"])
            }
        }

        @Test func testThatItRepairsWhatAJobChanged() async throws {
            try await withOrigin(["a": "1\n", "b": "2\n", "c": "3\n"]) { fixture in
                // given
                _ = try await fixture.checkout()
                let tree = try Directory(opening: fixture.workspace)
                try tree.write("a", bytes: Array("x\n".utf8))  // the same size
                try tree.remove("b")
                try tree.write("c", bytes: Array("3\n".utf8))  // touched only
                let touched = try #require(try tree.status("c"))
                try tree.write("untracked", bytes: [])

                // when
                let report = try await fixture.checkout()

                // then
                #expect((report.written, report.removed, report.unchanged) == (2, 1, 1))
                #expect(try fixture.tree() == ["a": "1\n", "b": "2\n", "c": "3\n"])
                #expect(try tree.status("c") == touched)
            }
        }

        @Test func testThatItKeepsIgnoredFilesAndRemovesTheOthers() async throws {
            try await withOrigin([
                ".gitignore": ".build/\n*.o\n", "Sources/.gitignore": "generated\n", "Sources/a": "1\n",
            ]) {
                fixture in
                // given
                _ = try await fixture.checkout()
                let tree = try Directory(opening: fixture.workspace)
                for path in [".build/debug/x", "Sources/generated/y", "left/z.o", "left/w", "deep/er/v"] {
                    try tree.makeDirectories(String(path[..<path.lastIndex(of: "/")!]))
                    try tree.write(path, bytes: Array("job\n".utf8))
                }
                // A rule of the job's own does not count.
                try tree.write(".gitignore", bytes: Array("*\n".utf8))

                // when
                _ = try await fixture.checkout()

                // then
                #expect(
                    Set(try fixture.tree().keys) == [
                        ".gitignore", "Sources/.gitignore", "Sources/a", ".build/debug/x", "Sources/generated/y",
                        "left/z.o",
                    ])
                #expect(try tree.status("deep") == nil)
            }
        }

        @Test func testThatItRemovesAFileThatWasTrackedAndIsIgnoredNow() async throws {
            try await withOrigin(["out/a": "1\n", "out/b": "1\n", "keep": "1\n"]) { fixture in
                _ = try await fixture.checkout()
                _ = try await fixture.origin.commit(files: [".gitignore": "out/\n"], removing: ["out/a", "out/b"])
                _ = try await fixture.checkout()
                #expect(Set(try fixture.tree().keys) == [".gitignore", "keep"])
            }
        }

        @Test func testThatItEmptiesItWhenAskedTo() async throws {
            try await withOrigin([".gitignore": "*.o\n"]) { fixture in
                _ = try await fixture.checkout()
                try Directory(opening: fixture.workspace).write("x.o", bytes: [])
                let report = try await fixture.checkout(isClean: true)
                #expect(report.isFresh)
                #expect(try fixture.tree() == [".gitignore": "*.o\n"])
            }
        }

        @Test func testThatItFollowsChangesOfKind() async throws {
            try await withOrigin(["file": "1\n", "dir/inner": "2\n", "mode": "3\n", "link-to-be": "4\n"]) { fixture in
                // given
                _ = try await fixture.checkout()
                try await fixture.origin.git("rm", "-qr", "file", "dir", "link-to-be")
                try await runExpectingSuccess(["ln", "-s", "/etc/passwd", "link-to-be"], in: fixture.origin.path)
                try await runExpectingSuccess(["chmod", "+x", "mode"], in: fixture.origin.path)
                _ = try await fixture.origin.commit(files: ["file/now/a/directory": "5\n", "dir": "6\n"])

                // when
                _ = try await fixture.checkout()

                // then
                let expected = [
                    "file/now/a/directory": "5\n", "dir": "6\n", "mode": "3\n", "link-to-be": "-> /etc/passwd",
                ]
                #expect(try fixture.tree() == expected)
                #expect(try fixture.status("mode")?.mode == 0o755)

                // when it goes back
                try await fixture.origin.git("checkout", "-q", "-B", "main", "HEAD~1")
                _ = try await fixture.checkout()

                // then
                #expect(try fixture.tree() == ["file": "1\n", "dir/inner": "2\n", "mode": "3\n", "link-to-be": "4\n"])
                #expect(try fixture.status("mode")?.mode == 0o644)
            }
        }

        /// As a kill in the middle leaves it: some files of the new commit, the record still the old one's.
        @Test func testThatItRepairsAnInterruptedCheckout() async throws {
            try await withOrigin([".gitignore": "gen\n", "a": "1\n", "b": "1\n"]) { fixture in
                // given
                _ = try await fixture.checkout()
                let state = try Directory(opening: fixture.state)
                let record = try state.read("record", limit: 1 << 20)
                try await fixture.origin.git("checkout", "-q", "-b", "other")
                try await runExpectingSuccess(["sh", "-c", "echo 2 > gen; git add -f gen"], in: fixture.origin.path)
                let interrupted = try await fixture.origin.commit(files: ["a": "2\n", "b": "2\n"])
                _ = try await fixture.checkout(RefName(branch: "other"))
                let tree = try Directory(opening: fixture.workspace)
                try tree.write("b", bytes: Array("1\n".utf8))
                try state.write("record", bytes: record)
                try state.write("pending", bytes: Array("\(interrupted)\n".utf8))

                // when
                let report = try await fixture.checkout()

                // then
                #expect(try fixture.tree() == [".gitignore": "gen\n", "a": "1\n", "b": "1\n"])
                #expect(!report.isFresh)
                #expect(try await fixture.checkout().written == 0)
            }
        }

        @Test(arguments: ["cut", "garbage", "gone"])
        func testThatItBeginsAfreshWhenItsRecordIsUnreadable(_ damage: String) async throws {
            try await withOrigin { fixture in
                _ = try await fixture.checkout()
                try Directory(opening: fixture.workspace).write("left", bytes: [])
                let state = try Directory(opening: fixture.state)
                let record = try state.read("record", limit: 1 << 20)
                switch damage {
                case "cut": try state.write("record", bytes: Array(record.dropLast(3)))
                case "garbage": try state.write("record", bytes: [1, 2, 3])
                default: try state.remove("record")
                }
                #expect(try await fixture.checkout().isFresh)
                #expect(try fixture.tree() == ["README": "kit\n"])
            }
        }

        @Test func testThatItAppliesChangedAttributes() async throws {
            try await withOrigin(["a.txt": "1\n2\n"]) { fixture in
                _ = try await fixture.checkout()
                _ = try await fixture.origin.commit(files: [".gitattributes": "*.txt text eol=crlf\n"])
                _ = try await fixture.checkout()
                #expect(try fixture.tree()["a.txt"] == "1\r\n2\r\n")
            }
        }
    }

    @Test func testThatItAppliesTheCommitsFiltersAndRunsNone() async throws {
        let attributes = "crlf text eol=crlf\nid ident\nlarge filter=lfs\nsub/* text\n"
        try await withOrigin([".gitattributes": attributes, "crlf": "1\n", "id": "$Id$\n", "large": "pointer\n"]) {
            fixture in
            _ = try await fixture.checkout()
            let tree = try fixture.tree()
            #expect(tree["crlf"] == "1\r\n")
            #expect(tree["large"] == "pointer\n")
            let blob = try await fixture.origin.git("rev-parse", "HEAD:id")
            #expect(tree["id"] == "$Id: \(blob) $\n")
        }
    }

    @Test func testThatItMakesSubmodulesEmptyDirectoriesAndSaysSo() async throws {
        try await withOrigin { fixture in
            let commit = try await fixture.origin.head()
            try await fixture.origin.git("update-index", "--add", "--cacheinfo", "160000,\(commit),vendor/lib")
            try await fixture.origin.git(["commit", "-q", "-m", "Submodule"])
            let report = try await fixture.checkout()
            #expect(report.submodules == ["vendor/lib"])
            #expect(try fixture.status("vendor/lib")?.kind == .directory)
            #expect(try await fixture.checkout().isFresh == false)
        }
    }

    @Test func testThatItKeepsNamesThatAreNotText() async throws {
        try await withOrigin { fixture in
            let blob = try await fixture.origin.git(["hash-object", "-w", "--stdin"], input: "x\n")
            let script = "printf '100644 blob \(blob)\\tcaf\\351\\n100644 blob \(blob)\\tback\\\\slash\\n' | git mktree"
            let tree = try await runExpectingSuccess(
                ["sh", "-c", script], in: fixture.origin.path, environment: GitRepository.environment())
            let commit = try await fixture.origin.git(["commit-tree", "-m", "x", String(tree.dropLast())])
            try await fixture.origin.git("update-ref", "refs/heads/main", commit)
            #expect(try await fixture.checkout().written == 2)
            let names = try Directory(opening: fixture.workspace).entries().map(\.bytes)
            #expect(names.contains([0x63, 0x61, 0x66, 0xe9]))
            #expect(names.contains(Array("back\\slash".utf8)))
        }
    }

    /// The `.git` that the job sees.
    @Suite struct GivenTheJobsGit {
        @Test func testThatGitDescribesTheWorkspaceAndFindsItClean() async throws {
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

        @Test func testThatATagIsCheckedOutDetached() async throws {
            try await withOrigin { fixture in
                try await fixture.origin.tag("v1")
                _ = try await fixture.checkout(RefName(tag: "v1"))
                let head = try await run(
                    ["git", "describe", "--exact-match"], in: fixture.workspace,
                    environment: GitRepository.environment())
                // A light tag: describe wants --tags.
                #expect(head.status != 0)
                let tags = try await runExpectingSuccess(
                    ["git", "describe", "--tags"], in: fixture.workspace, environment: GitRepository.environment())
                #expect(tags == "v1\n")
            }
        }

        @Test func testThatATagOfACommitThatIsHereIsThereAllTheSame() async throws {
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

        @Test func testThatATagThatWasMovedIsTheJobsOwn() async throws {
            try await withOrigin { fixture in
                // given: the mirror knows the tag at the second commit, and the job is of the first
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

        @Test func testThatItIsLeftAloneAsLongAsNothingChanges() async throws {
            try await withOrigin { fixture in
                // given
                _ = try await fixture.checkout()
                let before = try fixture.status(".git/index")

                // when nothing has changed
                _ = try await fixture.checkout()
                // then
                #expect(try fixture.status(".git/index") == before)

                // when somebody has put something into it
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

                // when another ref has the commit
                try await fixture.origin.tag("v1")
                _ = try await fixture.checkout(RefName(tag: "v1"))
                // then
                let head = try await runExpectingSuccess(["cat", ".git/HEAD"], in: fixture.workspace)
                #expect(!head.hasPrefix("ref:"))
            }
        }

        @Test func testThatWhatACommitDoesNotChangeOfItStaysUnlessSomebodyTouchedIt() async throws {
            try await withOrigin([".gitignore": ".build\n", "a": "1\n"]) { fixture in
                func git(_ arguments: String...) async throws -> String {
                    // Root may write where a job may not: `status` would refresh the index.
                    try await runExpectingSuccess(
                        ["git", "--no-optional-locks"] + arguments, in: fixture.workspace,
                        environment: GitRepository.environment())
                }
                // given
                _ = try await fixture.checkout()
                let names = ["config", "HEAD", "objects", "objects/info/alternates", "info/exclude", "refs/heads"]
                let before = try names.map { try fixture.status(".git/" + $0) }

                // when another commit is checked out, and then another branch
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

                // when a job writes into it, and one more commit is checked out
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

        @Test func testThatWhatAJobDidToItIsGone() async throws {
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
}
