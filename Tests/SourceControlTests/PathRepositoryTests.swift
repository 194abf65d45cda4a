import Basics
import Glibc
import Model
import SourceControl
import TestSupport
import Testing

/// Repositories on this machine that are read without starting git.
@Suite struct PathRepositoryTests {
    /// Puts a file where `git` would work for the mirror, so that everything that needs git fails.
    private static func refuseGit(_ fixture: Fixture) throws {
        try AtomicFile.write([], to: fixture.mirror.path + "/martlet-git")
    }

    @Test(
        .proves(
            .sourceControl,
            "A plain repository of this machine is read without starting git; unusual, foreign and large ones are left to git"
        ), .proves(.intake, "Polling at low cost: 1,000 local repositories in 3 s of processor time a round"))
    func testThatAScanAndWhatIsNewNeedNoGit() async throws {
        try await withOrigin(["a/b/c": "1\n", "d": "1\n"]) { fixture in
            // given
            try await fixture.fetch()
            try Self.refuseGit(fixture)
            try await fixture.origin.git("checkout", "-q", "-b", "side")
            _ = try await fixture.origin.commit(files: ["a/b/c": "2\n", "e": "new\n"])
            try await fixture.origin.tag("v1", message: "One")
            try await fixture.origin.git("tag", "-a", "-m", "Of a tag", "v1-signed", "v1")
            try await fixture.origin.checkout("main")
            _ = try await fixture.origin.commit(files: ["d": "2\n"])
            try await fixture.origin.git("merge", "-q", "--no-ff", "-m", "Both", "side")
            let tip = try await fixture.origin.head()

            // when
            let commit = try await fixture.fetch()

            // then
            #expect(commit == tip)
            for tag in ["v1", "v1-signed"] {
                let id = try await runExpectingSuccess([
                    "git", "-C", fixture.mirror.path, "rev-parse", "refs/tags/\(tag)",
                ])
                #expect(try await id == fixture.origin.git("rev-parse", "refs/tags/\(tag)") + "\n")
            }
            try await runExpectingSuccess(["git", "-C", fixture.mirror.path, "fsck", "--full", "--strict"])
            _ = try await fixture.mirror.checkout(tip, ref: fixture.main, into: fixture.workspace, state: fixture.state)
            #expect(try fixture.tree() == ["a/b/c": "2\n", "d": "2\n", "e": "new\n"])
        }
    }

    @Test(
        .proves(
            .sourceControl,
            "A plain repository of this machine is read without starting git; unusual, foreign and large ones are left to git"
        ))
    func testThatItListsWhatGitLists() async throws {
        try await withOrigin { fixture in
            // given
            try await fixture.fetch()
            try Self.refuseGit(fixture)
            let script = """
                git tag light; git tag -a -m One heavy; git tag -a -m Two twice heavy; git tag blob HEAD:README; git tag -a -m B heavy-blob blob
                git branch packed; git tag -a -m P heavy-packed; git pack-refs --all; git branch loose; git branch release/1.0
                git tag -a -m L heavy-loose; git symbolic-ref refs/tags/alias refs/tags/heavy-loose
                git symbolic-ref refs/heads/alias refs/heads/loose; git symbolic-ref refs/heads/nowhere refs/heads/none
                printf '%040d\\n' 1 > .git/refs/heads/missing; : > .git/refs/heads/x.lock
                git update-ref "$(printf 'refs/heads/latin-\\344')" HEAD; git update-ref refs/pull/1/head HEAD; git update-ref refs/notes/x HEAD
                """
            try await runExpectingSuccess(
                ["sh", "-ec", script], in: fixture.origin.path, environment: GitRepository.environment())
            for head in ["ref: refs/heads/main", "ref: refs/heads/none", try await fixture.origin.head().description] {
                try AtomicFile.write(Array((head + "\n").utf8), to: fixture.origin.path + "/.git/HEAD")

                // when
                let theirs = try await fixture.other(.program).scan()
                let ours = try await fixture.mirror.scan()

                // then
                #expect(ours.heads.count == 14)
                #expect(ours == theirs)
            }
        }
    }

    @Test(
        .proves(
            .sourceControl,
            "A plain repository of this machine is read without starting git; unusual, foreign and large ones are left to git"
        ),
        arguments: [
            "git config transfer.hideRefs refs/heads/secret; git branch secret",
            "git config --add include.path nowhere",
            "echo \"$PWD/other\" > .git/objects/info/alternates; mkdir other", "git rev-parse HEAD > .git/shallow",
            "mkdir -p .git/objects/pack; : > .git/objects/pack/pack-x.promisor",
            "git config core.repositoryformatversion 1; git config extensions.objectFormat sha1",
            "git update-ref refs/remotes/x HEAD; git symbolic-ref refs/heads/elsewhere refs/remotes/x",
            "ln -s main .git/refs/heads/linked", "printf 'ref:  refs/heads/main \\n' > .git/refs/heads/blanks",
            "git repack -q -a -d; chmod g+w .git/objects/pack", ": > .git/refs/heads/main",
            "git pack-refs --all; sed -i 's/fully-peeled//' .git/packed-refs",
        ])
    func testThatWhatIsUnusualIsLeftToGit(_ change: String) async throws {
        try await Self.expectGit(after: change)
    }

    @Test(
        .enabled(if: geteuid() == 0, "only root gives files away"),
        arguments: ["chown 12345 .git/objects", "git repack -q -a -d; chown 12345 .git/objects/pack/*.pack"])
    func testThatAnotherOwnersIsLeftToGit(_ change: String) async throws { try await Self.expectGit(after: change) }

    private static func expectGit(after change: String) async throws {
        try await withOrigin { fixture in
            // given
            try await fixture.fetch()
            try refuseGit(fixture)
            _ = try await fixture.mirror.scan()

            // when
            try await runExpectingSuccess(
                ["sh", "-ec", change], in: fixture.origin.path, environment: GitRepository.environment())

            // then
            await expectRejection(SourceControlError.self, \.code, .file) { _ = try await fixture.mirror.scan() }
        }
    }

    @Test(
        .proves(
            .sourceControl,
            "A plain repository of this machine is read without starting git; unusual, foreign and large ones are left to git"
        ))
    func testThatMuchAtOnceIsLeftToGit() async throws {
        try await withOrigin { fixture in
            // given
            try await fixture.fetch()
            try Self.refuseGit(fixture)
            let many = Dictionary(uniqueKeysWithValues: (0..<2001).map { ("f\($0 % 40)/\($0)", "\($0)\n") })
            let commit = try await fixture.origin.commit(files: many)

            // when
            await expectRejection(SourceControlError.self, \.code, .file) { try await fixture.fetch() }
            try Directory(opening: fixture.mirror.path).remove("martlet-git")
            try await fixture.fetch()

            // then
            #expect(try await fixture.mirror.contains(commit))
        }
    }

    @Test(
        .proves(
            .sourceControl,
            "A plain repository of this machine is read without starting git; unusual, foreign and large ones are left to git"
        ))
    func testThatADamagedObjectIsNotTaken() async throws {
        try await withOrigin { fixture in
            // given: another file's bytes in place of a new blob
            try await fixture.fetch()
            _ = try await fixture.origin.commit(files: ["a": "1\n", "b": "2\n"])
            let script = """
                place() { id=$(git rev-parse "$1"); echo ".git/objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-)"; }
                cp -f "$(place HEAD:a)" "$(place HEAD:b)"
                """
            try await runExpectingSuccess(
                ["sh", "-ec", script], in: fixture.origin.path, environment: GitRepository.environment())

            // when
            await #expect(throws: SourceControlError.self) { try await fixture.fetch() }

            // then
            try await runExpectingSuccess(["git", "-C", fixture.mirror.path, "fsck", "--full", "--strict"])
        }
    }

    /// An object's header may claim any size. The memory is bounded.
    @Test func testThatAnObjectThatClaimsToBeEndlessIsLeftToGit() async throws {
        try await withOrigin { fixture in
            // given
            try await fixture.fetch()
            try Self.refuseGit(fixture)
            let id = String(repeating: "ab", count: 20)
            let script = """
                mkdir -p .git/objects/ab
                python3 -c 'import zlib,sys; sys.stdout.buffer.write(zlib.compress(b"blob 9223372036854775807\\0"))' > .git/objects/ab/\(id.dropFirst(2))
                tree=$(printf '100644 blob \(id)\\ta\\n' | git mktree --missing)
                git update-ref refs/heads/main "$(git commit-tree -m Claimed -p HEAD "$tree")"
                """
            try await runExpectingSuccess(
                ["sh", "-ec", script], in: fixture.origin.path, environment: GitRepository.environment())

            // when, then
            await expectRejection(SourceControlError.self, \.code, .file) { try await fixture.fetch() }
        }
    }

    @Suite struct GivenAFirstMirror {
        /// A file that is a link is not followed, and what was copied before is discarded too.
        @Test func testThatObjectsThatWereTakenInPartAreNotBelieved() async throws {
            let files = Dictionary(uniqueKeysWithValues: (0..<40).map { ("d\($0)/f", "\($0)\n") })
            try await withOrigin(files) { fixture in
                let script = """
                    id=$(git rev-parse HEAD:d20/f); file=.git/objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-)
                    mv "$file" .git/moved; ln -s "$PWD/.git/moved" "$file"
                    """
                try await runExpectingSuccess(["sh", "-ec", script], in: fixture.origin.path)
                try await Self.expectWhole(fixture)
            }
        }

        /// A daemon that is killed while it copies objects leaves it like this.
        @Test func testThatAPartThatADaemonLeftIsNotBelieved() async throws {
            try await withOrigin(["a/b": "1\n"]) { fixture in
                let tip = try await fixture.origin.head().description
                _ = try await fixture.mirror.scan()
                let script = """
                    mkdir -p objects/\(tip.prefix(2)); : > martlet-linking
                    cp "$0/.git/objects/\(tip.prefix(2))/\(tip.dropFirst(2))" objects/\(tip.prefix(2))/
                    """
                try await runExpectingSuccess(
                    ["sh", "-ec", script, fixture.origin.path], in: fixture.mirror.path)
                try await Self.expectWhole(fixture)
            }
        }

        private static func expectWhole(_ fixture: Fixture) async throws {
            // when
            let commit = try await fixture.fetch()

            // then
            #expect(try await fixture.mirror.contains(commit))
            try await runExpectingSuccess(["git", "-C", fixture.mirror.path, "fsck", "--full", "--strict"])
            #expect(try Directory(opening: fixture.mirror.path).status("martlet-linking") == nil)
            try await runExpectingSuccess(["git", "-C", fixture.mirror.path, "rev-list", "--objects", "--all"])
        }
    }
}
