import Basics
import Glibc
import Model
import SourceControl
import TestSupport
import Testing

/// Working trees of newer git versions.
@Suite struct WorkingTreeFormatTests {
    /// `sh` runs in the directory above `kit`, of which the clone `new` is made.
    private static let clone = "git clone -q kit new && cd new"

    private func withFormat(
        _ script: String, _ body: (_ tree: WorkingTree, _ directory: TemporaryDirectory) async throws -> Void
    ) async throws {
        try await withWorkingTree { fixture in
            let environment = GitRepository.environment().merging(["GIT_ALLOW_PROTOCOL": "file"]) { $1 }
            try await runExpectingSuccess(
                ["bash", "-ec", script], in: fixture.directory.path, environment: environment)
            let tree = WorkingTree(
                path: fixture.directory.path("new"), repository: fixture.directory.path("ours"),
                configuration: GitConfiguration(files: []))
            try await body(tree, fixture.directory)
        }
    }

    @Test(
        .proves(.programs, "`martlet run` works in repositories of newer formats, or says why it cannot"),
        arguments: [
            "\(clone) && git config core.splitIndex true && git update-index --split-index",
            "\(clone) && git update-index --index-version 4",
            "\(clone) && git config core.repositoryformatversion 1 && git config extensions.relativeWorktrees true",
            "\(clone) && git config core.repositoryformatversion 1 && git config extensions.preciousObjects true",
            "\(clone) && git config core.repositoryformatversion 1 && git config extensions.worktreeConfig true",
            "\(clone) && git config core.untrackedCache true && git update-index --untracked-cache",
            "git -C kit config uploadpack.allowFilter true && git clone -q --no-local --filter=blob:none file://$PWD/kit new",
            "git clone -q --depth 1 file://$PWD/kit new", "git clone -q --shared kit new",
            "git -C kit worktree add -q --detach ../new",
        ])
    func testThatACleanTreeIsItsHead(_ script: String) async throws {
        try await withFormat(script) { tree, directory in
            // when
            let snapshot = try await tree.snapshot()
            try directory.write("new/later", "later\n")
            let changed = try await tree.snapshot()
            // then
            #expect(!snapshot.isChanged && snapshot.commit == snapshot.head)
            #expect(try await tree.mirror.rootEntries(of: snapshot.commit).sorted() == ["README", "Sources"])
            #expect(changed.isChanged && changed.head == snapshot.head)
            #expect(try await tree.mirror.rootEntries(of: changed.commit).sorted() == ["README", "Sources", "later"])
            #expect(try WorkingTree.root(of: tree.path + "/Sources", home: nil) == tree.path)
        }
    }

    /// G7: its configuration can name programs that git starts, such as filters.
    @Test(
        .proves(
            .triggers,
            "`martlet run` never opens a directory that only looks like a bare repository, and starts no git in another user's repository (G7)"
        ), .enabled(if: geteuid() == 0, "only root can give files to another user"))
    func testThatG7AnotherUsersIsLeftToItsOwner() async throws {
        let script = "\(Self.clone) && git config core.splitIndex true && git update-index --split-index"
        try await withFormat(script) { tree, _ in
            // given
            #expect(try await !tree.snapshot().isChanged)
            // when
            try await runExpectingSuccess(["chown", "-R", "nobody:", tree.path])
            // then
            let error = await #expect(throws: SourceControlError.self) { try await tree.snapshot() }
            expectContains(error?.message ?? "", "dubious ownership")
        }
    }

    /// Files that a sparse checkout leaves out are not on the disk, and so not in the tree.
    @Test(
        .proves(.programs, "`martlet run` works in repositories of newer formats, or says why it cannot"),
        arguments: [
            "\(clone) && git sparse-checkout set --cone --sparse-index none && git status -s",
            "\(clone) && git sparse-checkout set --cone none",
            "git -C kit config uploadpack.allowFilter true && git clone -q --sparse --no-local --filter=blob:none file://$PWD/kit new",
        ])
    func testThatASparseTreeIsWhatIsOnTheDisk(_ script: String) async throws {
        try await withFormat(script) { tree, directory in
            // when
            let snapshot = try await tree.snapshot()
            // then
            #expect(try await tree.mirror.rootEntries(of: snapshot.commit) == ["README"])
            #expect(try WorkingTree.root(of: directory.makeDirectory("new/deep"), home: nil) == tree.path)
        }
    }

    @Test(
        .proves(.programs, "`martlet run` works in repositories of newer formats, or says why it cannot"),
        arguments: [
            (
                "git init -q --object-format=sha256 -b main new && git -C new commit -q --allow-empty -m First",
                ["extensions.objectFormat", "SHA-256", "git fast-export"]
            ),
            (
                "\(clone) && git config core.repositoryformatversion 1 && git config extensions.refStorage reftable",
                ["extensions.refstorage", "git 2.45 or newer", "git refs migrate"]
            ),
            (
                "\(clone) && git config core.repositoryformatversion 1 && git config extensions.fromTheFuture true",
                ["extensions.fromthefuture", "install a git newer than"]
            ),
            (
                "\(clone) && git config core.repositoryformatversion 7",
                ["core.repositoryFormatVersion 7", "install a git newer than"]
            ),
        ])
    func testThatWhatCannotBeReadIsNamedWithWhatToDo(_ script: String, _ words: [String]) async throws {
        try await withFormat(script) { tree, _ in
            // when
            let error = await expectRejection(SourceControlError.self, \.code, .unsupported) {
                _ = try await tree.snapshot()
            }
            // then
            for word in words { expectContains("\(try #require(error))", word) }
        }
    }

    @Test(
        .proves(
            .programs,
            "`martlet run` works after damage of any kind, and in another repository at the same path, which it does not compare with the earlier one"
        ))
    func testThatAnotherRepositoryAtTheSamePathIsKnownByItsCommits() async throws {
        try await withWorkingTree { fixture in
            // given
            try fixture.directory.write("kit/mine", "mine\n")
            let first = try await fixture.tree.snapshot()
            _ = try await fixture.theirs.commit(files: ["b": "2\n"])
            let later = try await fixture.tree.snapshot(since: first.head)
            // when: another repository, in which an earlier file is not committed
            try fixture.directory.directory().remove("kit")
            let other = try await GitRepository.make(at: fixture.directory.path("kit"))
            _ = try await other.commit(files: ["other": "1\n"], message: "Other")
            try fixture.directory.write("kit/README", "kit\n")
            try fixture.directory.write("kit/mine", "mine\n")
            let snapshot = try await fixture.tree.snapshot(since: first.head)
            // then
            #expect(!first.isOfAnotherRepository && !later.isOfAnotherRepository)
            #expect(snapshot.isOfAnotherRepository)
            #expect(try await fixture.files(snapshot) == ["README": "kit\n", "mine": "mine\n", "other": "1\n"])
        }
    }

    /// Our files as a kill, a full disk or another version may leave them.
    @Test(
        .proves(
            .programs,
            "`martlet run` works after damage of any kind, and in another repository at the same path, which it does not compare with the earlier one"
        ),
        arguments: [
            "rm -rf ours/objects", "find ours/objects -type f -delete", "find ours -type f -exec truncate -s 0 {} +",
            "find ours -type f -exec sh -c 'echo garbage >$0' {} \\;", "rm ours/HEAD", "rm ours/config",
            "rm -rf ours/refs",
            "echo 0123456789012345678901234567890123456789 >ours/refs/martlet-snapshot",
            "mkdir -p ours/refs/martlet-snapshot.lock",
            "find ours -type f | xargs chmod 000",
        ])
    func testThatHalfACacheIsRepaired(_ damage: String) async throws {
        try await withWorkingTree { fixture in
            // given
            try fixture.directory.write("kit/README", "changed\n")
            _ = try await fixture.tree.snapshot()
            try await runExpectingSuccess(["sh", "-c", damage], in: fixture.directory.path)
            // when
            let snapshot = try await fixture.tree.snapshot()
            // then
            #expect(try await fixture.files(snapshot) == ["README": "changed\n", "Sources/a.swift": "1\n"])
        }
    }
}
