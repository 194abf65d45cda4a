import Basics
import Foundation
import Model
import SourceControl
import TestSupport
import Testing

@Suite struct WorkingTreeTests {
    @Suite struct GivenARepositoryWithACommit {
        @Test func testThatACleanTreeIsItsHead() async throws {
            try await withWorkingTree { fixture in
                // when
                let snapshot = try await fixture.tree.snapshot()
                // then
                #expect(snapshot.commit == (try await fixture.theirs.head()))
                #expect(!snapshot.isChanged)
                #expect(snapshot.ref == RefName(branch: "main"))
                #expect(try await fixture.files(snapshot) == ["README": "kit\n", "Sources/a.swift": "1\n"])
            }
        }

        @Test(
            .proves(
                .programs,
                "`martlet run` runs a working tree as it is on the disk with the daemon's engine, without a daemon, and leaves the tree alone"
            ))
        func testThatItHasWhatIsOnTheDisk() async throws {
            try await withWorkingTree { fixture in
                // given: changed, new, removed, ignored, ignored but tracked, linked, executable
                let tree = fixture.directory
                try tree.write("kit/README", "changed\n")
                try tree.write("kit/new/deep/file", "new\n")
                try tree.directory().remove("kit/Sources/a.swift")
                try tree.write("kit/.gitignore", "*.log\n/out/\n")
                try tree.write("kit/x.log", "noise")
                try tree.write("kit/out/o", "noise")
                try tree.write("kit/kept.log", "tracked")
                try await fixture.theirs.git("add", "-f", "kept.log")
                try tree.write("kit/.git/info/exclude", "private\n")
                try tree.write("kit/private", "noise")
                try tree.write("kit/.build/debug/o", "noise")
                try tree.write("kit/run", "#!/bin/sh\n", mode: 0o755)
                try tree.directory().makeLink("kit/link", target: Array("README".utf8))
                let before = try await fixture.status()
                // when
                let snapshot = try await fixture.tree.snapshot()
                // then
                #expect(snapshot.isChanged)
                #expect(snapshot.head == (try await fixture.theirs.head()))
                #expect(
                    try await fixture.files(snapshot) == [
                        "README": "changed\n", "new/deep/file": "new\n", ".gitignore": "*.log\n/out/\n",
                        "kept.log": "tracked", "run": "#!/bin/sh\n", "link": "-> README",
                    ])
                // The user's index is as it was
                #expect(try await fixture.status() == before)
            }
        }

        @Test func testThatTheSameTreeIsTheSameCommit() async throws {
            try await withWorkingTree { fixture in
                // given
                try fixture.directory.write("kit/README", "changed\n")
                let first = try await fixture.aged(try await fixture.tree.snapshot())
                // when
                let second = try await fixture.tree.snapshot()
                try fixture.directory.write("kit/README", "again\n")
                let third = try await fixture.tree.snapshot()
                // then
                #expect(second.commit == first)
                #expect(third.commit != first)
                #expect(try await fixture.files(third)["README"] == "again\n")
            }
        }

        @Test(
            .proves(
                .programs,
                "`martlet run` runs a working tree as it is on the disk with the daemon's engine, without a daemon, and leaves the tree alone"
            ))
        func testThatWhatIsIgnoredLaterIsLeftOut() async throws {
            try await withWorkingTree { fixture in
                // given: it was there when it was read first
                let tree = fixture.directory
                try tree.write("kit/secret.env", "token")
                try tree.write("kit/out/deep/o", "noise")
                try tree.write("kit/kept.env", "tracked")
                try await fixture.theirs.git("add", "kept.env")
                #expect(try await fixture.files(fixture.tree.snapshot())["secret.env"] == "token")
                // when
                try tree.write("kit/.gitignore", "*.env\n/out/\n")
                let snapshot = try await fixture.tree.snapshot()
                // then
                #expect(
                    try await fixture.files(snapshot) == [
                        "README": "kit\n", "Sources/a.swift": "1\n", ".gitignore": "*.env\n/out/\n",
                        "kept.env": "tracked",
                    ])
            }
        }

        @Test(
            .proves(
                .programs,
                "`martlet run` runs a working tree as it is on the disk with the daemon's engine, without a daemon, and leaves the tree alone"
            ))
        func testThatDirectoriesThatAreExcludedAreLeftOut() async throws {
            try await withWorkingTree { fixture in
                // given: a name of pattern characters, read before, and no longer ignored
                let cache = fixture.directory.path("kit/a [c]*/run")
                try fixture.directory.write("kit/a [c]*/run/kit/a.swift", "1\n")
                try fixture.directory.write("kit/a [c]*/other", "1\n")
                _ = try await fixture.tree.snapshot()
                try fixture.directory.write("kit/.gitignore", "!*/\n!*.swift\n")
                let tree = WorkingTree(
                    path: fixture.tree.path, repository: fixture.directory.path("ours"),
                    excluding: [cache, fixture.directory.path("elsewhere"), fixture.tree.path],
                    configuration: GitConfiguration(files: []))
                for _ in 1...2 {
                    // when
                    let snapshot = try await tree.snapshot()
                    // then
                    #expect(
                        try await fixture.files(snapshot).keys.sorted() == [
                            ".gitignore", "README", "Sources/a.swift", "a [c]*/other",
                        ])
                }
            }
        }

        @Test func testThatItsHistoryAndTagsAreThereForJobs() async throws {
            try await withWorkingTree { fixture in
                // given
                try await fixture.theirs.tag("1.0.0", message: "One")
                try fixture.directory.write("kit/README", "changed\n")
                // when
                let snapshot = try await fixture.tree.snapshot()
                _ = try await fixture.files(snapshot)
                let described = try await runExpectingSuccess(
                    ["git", "-C", fixture.workspace, "describe"], environment: GitRepository.environment())
                // then
                #expect(described.hasPrefix("1.0.0-1-g\(snapshot.commit.description.prefix(7))"))
            }
        }

        @Test func testThatObjectsThatWentAwayAreWrittenAnew() async throws {
            try await withWorkingTree { fixture in
                // given
                try fixture.directory.write("kit/README", "changed\n")
                _ = try await fixture.tree.snapshot()
                try fixture.directory.directory().remove("ours/objects")
                // when
                let snapshot = try await fixture.tree.snapshot()
                // then
                #expect(try await fixture.files(snapshot)["README"] == "changed\n")
            }
        }

        @Test(
            .proves(.programs, "`martlet run` works after a run that was killed while it wrote its repository"),
            arguments: ["index", "refs/martlet-snapshot"])
        func testThatALockOfARunThatWasKilledIsInNobodysWay(_ file: String) async throws {
            try await withWorkingTree { fixture in
                // given
                try fixture.directory.write("kit/README", "changed\n")
                _ = try await fixture.tree.snapshot()
                try fixture.directory.write("ours/\(file).lock", "half of it")
                try fixture.directory.write("kit/README", "again\n")
                // when
                let snapshot = try await fixture.tree.snapshot()
                // then
                #expect(try await fixture.files(snapshot)["README"] == "again\n")
            }
        }

        @Test(
            .proves(
                .programs, "Ctrl-C cancels `martlet run` while it reads the directory, and keeps nothing of it then"))
        func testThatItIsNotReadOnOnceTheTaskIsCanceled() async throws {
            try await withWorkingTree { fixture in
                // given
                try fixture.directory.write("kit/README", "changed\n")
                let gate = AsyncStream.makeStream(of: Void.self)
                let reading = Task {
                    for await _ in gate.stream {}
                    return try await fixture.tree.snapshot()
                }
                // when
                reading.cancel()
                let result = await reading.result
                // then
                await expectRejection(SourceControlError.self, \.code, .canceled) { _ = try result.get() }
                #expect(try await fixture.tree.snapshot().isChanged)
            }
        }

        @Test func testThatARepositoryWithinIsLeftOut() async throws {
            try await withWorkingTree { fixture in
                // given
                let inner = try await GitRepository.make(at: fixture.directory.path("kit/inner"))
                _ = try await inner.commit(files: ["a": "1\n"], message: "Inner")
                // when
                let snapshot = try await fixture.tree.snapshot()
                // then
                #expect(try await fixture.files(snapshot) == ["README": "kit\n", "Sources/a.swift": "1\n"])
            }
        }
    }

    @Test func testThatADirectoryWithoutARepositoryIsRead() async throws {
        try await withTemporaryDirectory { directory in
            // given
            try directory.write("plain/Makefile", "check:\n\ttrue\n")
            try directory.write("plain/.gitignore", "*.o\n")
            try directory.write("plain/a.o", "noise")
            let tree = WorkingTree(
                path: directory.path("plain"), repository: directory.path("ours"),
                configuration: GitConfiguration(files: []))
            try directory.write("plain/b.log", "ignored later")
            _ = try await tree.snapshot()
            try directory.write("plain/.gitignore", "*.o\n*.log\n")
            // when
            let snapshot = try await tree.snapshot()
            // then
            #expect(snapshot.head == nil && snapshot.isChanged)
            #expect(snapshot.ref == RefName("HEAD"))
            let fixture = WorkingTreeFixture(directory: directory, repository: nil, tree: tree)
            #expect(
                try await fixture.files(snapshot) == ["Makefile": "check:\n\ttrue\n", ".gitignore": "*.o\n*.log\n"])
        }
    }

    @Test func testThatThePersonsIgnoreFileCounts() async throws {
        try await withTemporaryDirectory { directory in
            // given
            try directory.write("plain/a", "1")
            try directory.write("plain/b~", "2")
            try directory.write("plain/c.swp", "3")
            try directory.write("xdg/git/config", "")
            try directory.write("xdg/git/ignore", "*~\n")
            try directory.write("ignored", "*.swp\n")
            let home = try directory.write("gitconfig", "[core]\n\texcludesFile = \(directory.path("ignored"))\n")
            for (files, expected) in [
                ([directory.path("xdg/git/config")], ["a", "c.swp"]),
                ([directory.path("xdg/git/config"), home], ["a", "b~"]),
            ] {
                let tree = WorkingTree(
                    path: directory.path("plain"), repository: directory.path("ours-\(files.count)"),
                    configuration: GitConfiguration(files: files))
                // when
                let snapshot = try await tree.snapshot()
                // then
                #expect(try await tree.mirror.rootEntries(of: snapshot.commit).sorted() == expected)
            }
        }
    }

    @Test func testThatItsRootIsTheRepositorys() async throws {
        try await withWorkingTree { fixture in
            // given
            let root = try fixture.theirs.path
            try fixture.directory.write("kit/.gitignore", "/out/\n")
            try fixture.directory.makeDirectory("kit/out/deep")
            try fixture.directory.makeDirectory("elsewhere")
            let bare = try await fixture.theirs.bareClone(at: fixture.directory.path("bare.git"))
            // then
            #expect(try WorkingTree.root(of: root, home: nil) == root)
            #expect(try WorkingTree.root(of: root + "/Sources", home: nil) == root)
            #expect(try WorkingTree.root(of: root + "/out/deep", home: nil) == root + "/out/deep")
            #expect(try WorkingTree.root(of: root + "/Sources", home: root) == root + "/Sources")
            #expect(
                try WorkingTree.root(of: fixture.directory.path("elsewhere"), home: nil)
                    == fixture.directory.path("elsewhere"))
            for (path, code) in [(root + "/none", SourceControlError.Code.file), (bare.path, .other)] {
                #expect { try WorkingTree.root(of: path, home: nil) } throws: {
                    ($0 as? SourceControlError)?.code == code
                }
            }
        }
    }

    /// G7: a directory in a user's tree names another directory as its own.
    @Test(
        .proves(
            .triggers,
            "`martlet run` never opens a directory that only looks like a bare repository, and starts no git in another user's repository (G7)"
        ), arguments: ["", "/deep/in/it"])
    func testThatADirectoryThatLooksLikeABareRepositoryLeadsNowhereElse(_ place: String) async throws {
        try await withTemporaryDirectory { directory in
            // given
            try directory.write("private/notes", "mine\n")
            try directory.makeDirectory("clone/kit/objects")
            try directory.makeDirectory("clone/kit/refs")
            try directory.makeDirectory("clone/kit/deep/in/it")
            try directory.write("clone/kit/HEAD", "ref: refs/heads/main\n")
            try directory.write(
                "clone/kit/config",
                "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = \(directory.path("private"))\n")
            // then
            #expect {
                try WorkingTree.root(of: directory.path("clone/kit") + place, home: nil)
            } throws: {
                ($0 as? SourceControlError)?.code == .other
            }
        }
    }
}

/// A working tree of the real git, with the checkout of its snapshot.
struct WorkingTreeFixture {
    let directory: TemporaryDirectory
    let repository: GitRepository?
    let tree: WorkingTree
    var workspace: String { directory.path("workspace/tree") }
    var theirs: GitRepository { get throws { try #require(repository) } }

    func files(_ snapshot: WorkingTreeSnapshot) async throws -> [String: String] {
        _ = try await tree.mirror.checkout(
            snapshot.commit, ref: snapshot.ref, into: workspace, state: directory.path("workspace/checkout"))
        var found: [String: String] = [:]
        let root = try Directory(opening: workspace)
        try root.walk(limit: 1000, enters: { !$0.elementsEqual(".git".utf8) }) { path, status in
            let name = String(decoding: path, as: UTF8.self)
            switch status.kind {
            case .file: found[name] = String(decoding: try root.read(path, limit: 1 << 20), as: UTF8.self)
            case .link: found[name] = "-> " + String(decoding: try root.linkTarget(path), as: UTF8.self)
            default: break
            }
        }
        return found
    }

    /// Returns an older snapshot of the same tree. With another time it is another commit.
    func aged(_ snapshot: WorkingTreeSnapshot) async throws -> CommitID {
        let ours = directory.path("ours")
        let old = try await runExpectingSuccess(
            ["git", "-C", ours, "commit-tree", "-p", "\(snapshot.commit)^", "-m", "old", "\(snapshot.commit)^{tree}"],
            environment: GitRepository.environment()
        ).trimmingCharacters(in: .whitespacesAndNewlines)
        _ = try await runExpectingSuccess(
            ["git", "-C", ours, "update-ref", "refs/martlet-snapshot", old], environment: GitRepository.environment())
        #expect(old != snapshot.commit.description)
        return try #require(CommitID(old))
    }

    /// Returns index, refs and files as git reports them.
    func status() async throws -> String {
        let repository = try theirs
        return try await repository.git("status", "--porcelain=v2", "--branch", "--ignored")
            + repository.git("for-each-ref")
    }
}

/// Runs a test with a repository `kit` with a commit.
func withWorkingTree(_ body: (WorkingTreeFixture) async throws -> Void) async throws {
    try await withTemporaryDirectory { directory in
        let repository = try await GitRepository.make(at: directory.path("kit"))
        _ = try await repository.commit(files: ["README": "kit\n", "Sources/a.swift": "1\n"], message: "First")
        let tree = WorkingTree(
            path: repository.path, repository: directory.path("ours"), configuration: GitConfiguration(files: []))
        try await body(WorkingTreeFixture(directory: directory, repository: repository, tree: tree))
    }
}
