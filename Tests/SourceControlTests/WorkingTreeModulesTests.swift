import Basics
import Model
import SourceControl
import TestSupport
import Testing

/// Submodules of a directory in which a user works.
@Suite(
    .proves(
        .programs,
        "`martlet run` uses the files of submodules as they are on the disk, and says which are not initialized"))
struct WorkingTreeModulesTests {
    private static let files = [
        ".gitignore": "*.log\n", "README": "kit\n", "Sources/a.swift": "1\n", "vendor/lib/lib.c": "int lib;\n",
        "vendor/lib/.gitignore": "*.o\n", "vendor/lib/deep/inner/i.c": "int inner;\n",
    ]

    /// Runs a test with `kit` with `vendor/lib`, which has `deep/inner`, all initialized.
    private func withModules(_ body: (WorkingTreeFixture) async throws -> Void) async throws {
        try await withWorkingTree { fixture in
            let inner = try await GitRepository.make(at: fixture.directory.path("inner"))
            _ = try await inner.commit(files: ["i.c": "int inner;\n"])
            let library = try await GitRepository.make(at: fixture.directory.path("lib"))
            _ = try await library.commit(files: ["lib.c": "int lib;\n", ".gitignore": "*.o\n"])
            try await add(inner.path, at: "deep/inner", to: library)
            _ = try await fixture.theirs.commit(files: [".gitignore": "*.log\n"])
            try await add(library.path, at: "vendor/lib", to: fixture.theirs)
            try await update(fixture)
            try await body(fixture)
        }
    }

    private func add(_ other: String, at path: String, to repository: GitRepository) async throws {
        try await repository.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", other, path)
        try await repository.git(["commit", "-q", "-m", "Link"], date: Timestamp(secondsSinceEpoch: 1_767_300_000))
    }

    private func update(_ fixture: WorkingTreeFixture) async throws {
        try await fixture.theirs.git(
            "-c", "protocol.file.allow=always", "submodule", "update", "-q", "--init", "--recursive")
    }

    /// Returns the files without the one that names the submodules' addresses.
    private func files(_ snapshot: WorkingTreeSnapshot, _ fixture: WorkingTreeFixture) async throws -> [String: String]
    {
        try await fixture.files(snapshot).filter { !$0.key.hasSuffix(".gitmodules") }
    }

    @Test func testThatATreeWithCleanSubmodulesHasTheirFilesAndIsUnchanged() async throws {
        try await withModules { fixture in
            // when
            let snapshot = try await fixture.tree.snapshot()
            let again = try await fixture.tree.snapshot()
            // then
            #expect(try await files(snapshot, fixture) == Self.files)
            #expect(!snapshot.isChanged)
            #expect(snapshot.head == (try await fixture.theirs.head()))
            #expect(snapshot.emptySubmodules == [])
            #expect(again == snapshot)
        }
    }

    @Test func testThatChangesInSubmodulesCountByTheirOwnRules() async throws {
        try await withModules { fixture in
            // given: changed, new, removed, ignored in it, ignored only around it
            _ = try await fixture.tree.snapshot()
            let tree = fixture.directory
            try tree.write("kit/vendor/lib/new/file", "new\n")
            try tree.directory().remove("kit/vendor/lib/lib.c")
            try tree.write("kit/vendor/lib/x.o", "noise")
            try tree.write("kit/vendor/lib/kept.log", "kept")
            try tree.write("kit/vendor/lib/deep/inner/i.c", "int changed;\n")
            let before = try await fixture.status()
            // when
            let snapshot = try await fixture.tree.snapshot()
            // then
            var expected = Self.files
            expected["vendor/lib/lib.c"] = nil
            expected["vendor/lib/new/file"] = "new\n"
            expected["vendor/lib/kept.log"] = "kept"
            expected["vendor/lib/deep/inner/i.c"] = "int changed;\n"
            #expect(try await files(snapshot, fixture) == expected)
            #expect(snapshot.isChanged)
            #expect(try await fixture.status() == before)
        }
    }

    @Test func testThatASubmoduleWithAnotherCommitIsAChange() async throws {
        try await withModules { fixture in
            // given
            try fixture.directory.write("kit/vendor/lib/lib.c", "int later;\n")
            let library = try fixture.theirs.path + "/vendor/lib"
            _ = try await runExpectingSuccess(
                ["git", "-C", library, "commit", "-q", "-a", "-m", "Later"],
                environment: GitRepository.environment())
            // when
            let snapshot = try await fixture.tree.snapshot()
            // then
            #expect(snapshot.isChanged)
            #expect(try await files(snapshot, fixture)["vendor/lib/lib.c"] == "int later;\n")
        }
    }

    @Test func testThatOneThatIsNotInitializedIsLeftEmptyAndTold() async throws {
        try await withModules { fixture in
            // given
            try await fixture.theirs.git("submodule", "deinit", "-q", "-f", "vendor/lib")
            // when
            let empty = try await fixture.tree.snapshot()
            let left = try await files(empty, fixture)
            try await fixture.theirs.git(
                "-c", "protocol.file.allow=always", "submodule", "update", "-q", "--init", "vendor/lib")
            let half = try await fixture.tree.snapshot()
            // then
            #expect(empty.emptySubmodules == ["vendor/lib"])
            #expect(!empty.isChanged && empty.commit == empty.head)
            #expect(left == Self.files.filter { !$0.key.hasPrefix("vendor/") })
            #expect(half.emptySubmodules == ["vendor/lib/deep/inner"])
            #expect(!half.isChanged)
            #expect(try await files(half, fixture) == Self.files.filter { !$0.key.hasSuffix("i.c") })
        }
    }

    /// The index's record of a path is useless if something else is there.
    @Test func testThatASubmodulesPlaceCanHoldSomethingElse() async throws {
        try await withModules { fixture in
            // given
            let theirs = try fixture.theirs
            try await theirs.git("submodule", "deinit", "-q", "-f", "vendor/lib")
            #expect(try await fixture.tree.snapshot().emptySubmodules == ["vendor/lib"])
            // when: its files are there without a repository; then they are gone; then they are back
            try fixture.directory.write("kit/vendor/lib/lib.c", "mine\n")
            let plain = try await fixture.tree.snapshot()
            let plainFiles = try await files(plain, fixture)
            try await theirs.git("rm", "-q", "-r", "-f", "--cached", "vendor/lib")
            try fixture.directory.directory().remove("kit/vendor/lib")
            let gone = try await fixture.tree.snapshot()
            let goneFiles = try await files(gone, fixture)
            try await theirs.git("reset", "-q", "--hard")
            try await update(fixture)
            let back = try await fixture.tree.snapshot()
            // then
            #expect(plainFiles["vendor/lib/lib.c"] == "mine\n")
            #expect(plain.emptySubmodules == [] && plain.isChanged)
            #expect(goneFiles == Self.files.filter { !$0.key.hasPrefix("vendor/") })
            #expect(gone.emptySubmodules == [] && gone.isChanged)
            #expect(try await fixture.tree.mirror.rootEntries(of: gone.commit).contains("vendor") == false)
            #expect(try await files(back, fixture) == Self.files)
            #expect(!back.isChanged)
        }
    }
}
