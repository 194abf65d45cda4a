import Basics
import CLibGit2
import Model
import SourceControl
import TestSupport
import Testing

/// Nothing that a repository or a job does leads out of the workspace.
@Suite(.threat("G5")) struct HostileTreeTests {
    /// The reason for our own checkout. If this test ever fails, libgit2 no longer follows links.
    @Test(.proves(.sourceControl, "libgit2's own checkout writes through a planted link; ours does not"))
    func testThatLibgit2ItselfWritesThroughAPlantedLink() async throws {
        try await withOrigin(["dir/victim": "from the repository\n"]) { fixture in
            // given
            _ = try await fixture.fetch()
            let outside = try fixture.directory.write("outside/victim", "precious\n")
            let tree = try fixture.directory.makeDirectory("theirs")
            var repository: OpaquePointer?
            #expect(git_libgit2_init() > 0)
            #expect(git_repository_init(&repository, tree, 0) == 0)
            defer { git_repository_free(repository) }
            var remote: OpaquePointer?
            #expect(git_remote_create_anonymous(&remote, repository, fixture.origin.path) == 0)
            defer { git_remote_free(remote) }
            #expect(git_remote_fetch(remote, nil, nil, nil) == 0)
            var commit: OpaquePointer?
            let id = try await fixture.origin.head()
            try await runExpectingSuccess(["git", "-C", tree, "fetch", "-q", fixture.origin.path, "main"])
            var oid = git_oid()
            #expect(git_oid_fromstr(&oid, id.description) == 0)
            #expect(git_object_lookup(&commit, repository, &oid, GIT_OBJECT_COMMIT) == 0)
            defer { git_object_free(commit) }
            try Directory(opening: tree).makeLink("dir", target: Array(fixture.directory.path("outside").utf8))

            // when
            var options = git_checkout_options()
            git_checkout_options_init(&options, UInt32(GIT_CHECKOUT_OPTIONS_VERSION))
            options.checkout_strategy = GIT_CHECKOUT_FORCE.rawValue
            _ = git_checkout_tree(repository, commit, &options)

            // then
            expectFile(outside, "from the repository\n")
        }
    }

    @Test(
        .proves(.sourceControl, "libgit2's own checkout writes through a planted link; ours does not"),
        arguments: [false, true])
    func testThatOursRemovesThePlantedLinkAndTouchesNothingOutside(isClean: Bool) async throws {
        try await withOrigin(["dir/victim": "from the repository\n", "dir/deep/er/x": "1\n", "file": "2\n"]) {
            fixture in
            // given
            _ = try await fixture.checkout()
            let outside = try fixture.directory.write("outside/victim", "precious\n")
            try fixture.directory.write("outside/deep/er/x", "precious\n")
            try fixture.directory.write("outside/untracked", "precious\n")
            let tree = try Directory(opening: fixture.workspace)
            try tree.remove("dir")
            try tree.makeLink("dir", target: Array(fixture.directory.path("outside").utf8))
            try tree.remove("file")
            try tree.makeLink("file", target: Array(outside.utf8))
            try tree.makeLink("planted", target: Array(fixture.directory.path("outside").utf8))
            let before = try fixture.tree(fixture.directory.path("outside"))

            // when
            _ = try await fixture.checkout(isClean: isClean)

            // then
            #expect(try fixture.tree(fixture.directory.path("outside")) == before)
            #expect(
                try fixture.tree() == [
                    "dir/victim": "from the repository\n", "dir/deep/er/x": "1\n", "file": "2\n",
                ])
        }
    }

    @Test func testThatALinkInPlaceOfTheWholeTreeIsRemoved() async throws {
        try await withOrigin { fixture in
            // given
            _ = try await fixture.checkout()
            let outside = try fixture.directory.write("outside/README", "precious\n")
            try Directory(opening: fixture.directory.path("workspace")).remove("tree")
            try Directory(opening: fixture.directory.path("workspace"))
                .makeLink("tree", target: Array(fixture.directory.path("outside").utf8))

            // when
            _ = try await fixture.checkout()

            // then
            expectFile(outside, "precious\n")
            #expect(try fixture.tree() == ["README": "kit\n"])
        }
    }

    /// A job moves a tracked directory away and links to it: each file's inode is still the recorded one.
    @Test func testThatAMovedAndLinkedDirectoryIsMadeAnew() async throws {
        try await withOrigin(["dir/a": "1\n"]) { fixture in
            _ = try await fixture.checkout()
            try await runExpectingSuccess(["sh", "-c", "mv dir moved && ln -s moved dir"], in: fixture.workspace)
            _ = try await fixture.checkout()
            #expect(try fixture.tree() == ["dir/a": "1\n"])
            #expect(try fixture.status("dir")?.kind == .directory)
        }
    }

    @Test func testThatAFileWithASecondNameOutsideIsReplacedNotWritten() async throws {
        try await withOrigin(["a": "1\n"]) { fixture in
            // given
            _ = try await fixture.checkout()
            let outside = try fixture.directory.write("outside", "0\n")
            try await runExpectingSuccess(["ln", "-f", outside, "a"], in: fixture.workspace)

            // when
            _ = try await fixture.checkout()

            // then
            expectFile(outside, "0\n")
            #expect(try fixture.tree() == ["a": "1\n"])
        }
    }

    /// The trees of git's and libgit2's `nasty` test repositories, created here.
    @Test(
        .threat("G4"),
        arguments: [
            ["040000 tree TREE\t.git"], ["040000 tree TREE\t.GIT"], ["040000 tree TREE\t.Git"],
            ["100644 blob BLOB\t.git"],
            ["120000 blob LINK\t.git"], ["040000 tree TREE\tgit~1"], ["040000 tree TREE\tGIT~1"],
            ["040000 tree TREE\t.git."],
            ["040000 tree TREE\t.git "], ["040000 tree TREE\t.git. ."], ["040000 tree TREE\t.git::$INDEX_ALLOCATION"],
            ["040000 tree TREE\t.git\\"], ["100644 blob BLOB\t.git\\config"], ["100644 blob BLOB\ta\\.GIT\\hooks\\x"],
            ["040000 tree TREE\t.g\u{200c}it"], ["040000 tree TREE\t.gi\u{200d}T"], ["040000 tree TREE\t\u{feff}.git"],
            ["040000 tree TREE\t.."], ["040000 tree TREE\t."], ["100644 blob BLOB\t../x"], ["100644 blob BLOB\ta/b"],
            ["100644 blob BLOB\t/etc/x"], ["120000 blob LINK\ta", "040000 tree TREE\ta"],
            ["040000 tree TREE\ta", "120000 blob LINK\ta"], ["120000 blob LINK\t.gitmodules"],
            ["120000 blob LINK\t.GITMODULES"], ["120000 blob LINK\tgitmod~1"], ["010644 blob BLOB\tpipe"],
        ])
    func testThatItRefusesTheTree(_ lines: [String]) async throws {
        try await withOrigin { fixture in
            // given
            _ = try await fixture.checkout()
            try await commitTree(lines, in: fixture.origin)
            let before = try fixture.tree(fixture.directory.path("workspace"))
            let commit = try await fixture.fetch()

            // when
            let error = await expectRejection(SourceControlError.self, \.code, .treeRefused) {
                try await fixture.mirror.checkout(
                    commit, ref: fixture.main, into: fixture.workspace, state: fixture.state)
            }

            // then: no file was touched, and the message can be printed
            #expect(try fixture.tree(fixture.directory.path("workspace")) == before)
            if let error {
                #expect(!error.description.unicodeScalars.contains { $0.value == 0x200c || $0.value == 0xfeff })
            }
        }
    }

    @Test(arguments: [".gitx", "git", "a.git", "git~2", "...", ".git~1"])
    func testThatItKeepsHarmlessNames(_ name: String) async throws {
        try await withOrigin { fixture in
            try await commitTree(["100644 blob BLOB\t\(name)"], in: fixture.origin)
            #expect(try await fixture.checkout().written == 1)
            #expect(try fixture.tree() == [name: "planted\n"])
        }
    }

    /// G5: a link that leads out is written as a link, and never followed.
    @Test func testThatATrackedLinkOutIsOnlyALink() async throws {
        try await withOrigin { fixture in
            try await commitTree(["120000 blob LINK\ta", "040000 tree TREE\tb"], in: fixture.origin)
            _ = try await fixture.checkout()
            #expect(try fixture.tree() == ["a": "-> ../..", "b/x": "planted\n"])
        }
    }

    /// G7: a directory that looks like a bare repository, with settings that run programs, is only files.
    @Test func testThatAnEmbeddedRepositoryIsOnlyFiles() async throws {
        let config =
            "[core]\n\tfsmonitor = touch ../../pwned\n\thooksPath = hooks\n[filter \"x\"]\n\tsmudge = touch ../../pwned\n"
        try await withOrigin([
            "HEAD": "ref: refs/heads/main\n", "config": config, "objects/x": "1\n", "refs/x": "1\n",
            ".gitattributes": "* filter=x\n",
        ]) { fixture in
            _ = try await fixture.checkout()
            #expect(try await fixture.checkout().unchanged == 5)
            #expect(try fixture.tree().count == 5)
            expectNoFile(fixture.directory.path("pwned"))
            expectNoFile(fixture.directory.path("workspace/pwned"))
        }
    }

    /// G8: replace refs of a server are ignored.
    /// Eleven small trees that name ten billion directories.
    @Test(
        .proves(
            .sourceControl,
            "A tree that would not fit into memory is refused; rules with any number of wildcards are matched at once"))
    func testThatAPyramidOfTreesIsRefused() async throws {
        try await withOrigin { fixture in
            var tree = try await fixture.origin.git(["mktree"], input: "")
            for _ in 0..<10 {
                tree = try await fixture.origin.git(
                    ["mktree"], input: (0..<10).map { "040000 tree \(tree)\t\($0)\n" }.joined())
            }
            let commit = try await fixture.origin.git(
                ["commit-tree", "-m", "Pyramid", tree], date: Timestamp(secondsSinceEpoch: 1_767_225_600))
            try await fixture.origin.git("update-ref", "refs/heads/main", commit)
            await expectRejection(SourceControlError.self, \.code, .tooLarge) { _ = try await fixture.checkout() }
        }
    }

    /// A matcher that tries all ways to fill wildcards never ends with these.
    @Test(
        .proves(
            .sourceControl,
            "A tree that would not fit into memory is refused; rules with any number of wildcards are matched at once"),
        arguments: [
            (".gitattributes", "*a*a*a*a*ab text\n"), (".gitignore", "ok\n*a*a*a*a*ab\n"),
            (".gitignore", String(repeating: "**/a/", count: 12) + "x\n"),
            // Nearly as many stars as the name has letters, for which C(n, k) is small again.
            (".gitignore", "ok\n" + String(repeating: "*a", count: 190) + "b\n"),
            // Each one alone is fast.
            (".gitignore", "ok\n" + String(repeating: "*a*a*ab\n", count: 500_000 / 8)),
        ])
    func testThatARuleOfManyWildcardsIsAnsweredAtOnce(_ name: String, _ rules: String) async throws {
        let long = String(repeating: "a", count: 200) + "c"
        let deep = String(repeating: "a/", count: 40) + "file"
        try await withOrigin([long: "", deep: ""]) { fixture in
            // The index is not compared: git needs the rules to write one, and takes a minute.
            _ = try await fixture.checkout()
            let blob = try await fixture.origin.git(["hash-object", "-w", "--stdin"], input: rules)
            let others = try await fixture.origin.git("ls-tree", "HEAD")
            let tree = try await fixture.origin.git(["mktree"], input: others + "\n100644 blob \(blob)\t\(name)\n")
            let commit = try await fixture.origin.git(
                ["commit-tree", "-m", "Rules", tree], date: Timestamp(secondsSinceEpoch: 1_767_225_600))
            try await fixture.origin.git("update-ref", "refs/heads/main", commit)
            try Directory(opening: fixture.workspace).write("x", bytes: [])
            let began = ContinuousClock.now
            // when
            _ = try await fixture.checkout()
            // then
            #expect(try fixture.status("x") == nil)
            #expect(ContinuousClock.now - began < TestLimits.wait * 3)
        }
    }

    /// A job's file has a name so long that trying all ways would never end.
    @Test(
        .proves(
            .sourceControl,
            "A tree that would not fit into memory is refused; rules with any number of wildcards are matched at once"))
    func testThatALongNameIsAnsweredAtOnce() async throws {
        try await withOrigin([".gitignore": String(repeating: "*a", count: 8) + "b\n*.o\n", "short": ""]) { fixture in
            // given
            _ = try await fixture.checkout()
            let tree = try Directory(opening: fixture.workspace)
            let long = String(repeating: "a", count: 254) + "c"
            for name in [long, "a.o"] { try tree.write(name, bytes: []) }
            // when
            _ = try await fixture.checkout()
            // then
            #expect(try fixture.status(long) == nil)
            #expect(try fixture.status("a.o") != nil)
        }
    }

    @Test(
        .proves(
            .sourceControl,
            "A tree that would not fit into memory is refused; rules with any number of wildcards are matched at once"))
    func testThatUsualRulesAreTaken() async throws {
        let rules = "**/*.xcodeproj/**/xcuserdata/**\n*.[Cc]ache*\n[Bb]uild-*-*/**\n# *a*a*a*a*a*a*a*a*\n"
        try await withOrigin([".gitignore": rules, "Sources/\(String(repeating: "n", count: 80)).swift": ""]) {
            fixture in
            _ = try await fixture.checkout()
            try Directory(opening: fixture.workspace).write("a.cache", bytes: [])
            _ = try await fixture.checkout()
            #expect(try fixture.status("a.cache") != nil)
        }
    }

    @Test(.threat("G8")) func testThatReplaceRefsDoNotCount() async throws {
        try await withOrigin(["a": "true\n"]) { fixture in
            let good = try await fixture.origin.head()
            let other = try await fixture.origin.commit(files: ["a": "false\n"])
            try await fixture.origin.git("replace", good.description, other.description)
            try await fixture.origin.git("update-ref", "refs/heads/old", good.description)
            _ = try await fixture.checkout(RefName(branch: "old"))
            #expect(try fixture.tree() == ["a": "true\n"])
        }
    }

    @Test func testThatItEmptiesAWorkspaceWhoseDirectoriesCannotBeRead() async throws {
        try await withOrigin(["dir/a": "1\n"]) { fixture in
            _ = try await fixture.checkout()
            try await runExpectingSuccess(["sh", "-c", "mkdir -p x/y && chmod 000 x dir"], in: fixture.workspace)
            _ = try await fixture.checkout()
            #expect(try fixture.tree() == ["dir/a": "1\n"])
        }
    }
}
