import Basics
import Model
import SourceControl
import TestSupport
import Testing

/// A mirror with damage, or with apparent damage.
@Suite struct MirrorHealingTests {
    /// Runs a test with a mirror that was fetched over a connection, so that it has its own files.
    private static func withMirror(
        _ files: [String: String] = ["a": "1\n"], _ body: (Fixture, Mirror) async throws -> Void
    ) async throws {
        try await withOrigin(files) { fixture in
            try await GitDaemon.serving(fixture.directory.path("origin")) { server in
                let mirrors = Mirrors(
                    directory: fixture.directory.path("others"), configuration: GitConfiguration(files: []))
                let url = "git://127.0.0.1:\(server.port)/kit"
                try await body(fixture, mirrors.mirror(of: try RemoteURL(url, isInsecureAllowed: true)))
            }
        }
    }

    private static func packs(_ mirror: Mirror) throws -> Set<String> {
        Set(try Directory(opening: mirror.objects + "/pack").entries().map(\.name).filter { $0.hasSuffix(".pack") })
    }

    /// Only the mirror has another branch's commit, which the server no longer has.
    @Test(
        .proves(
            .sourceControl,
            "A damaged pack, ref or HEAD is repaired by the next fetch, with all holds; only damaged files are removed")
    )
    func testThatOnlyThePackThatIsDamagedGoes() async throws {
        try await Self.withMirror { fixture, mirror in
            // given
            try await mirror.fetch(try await mirror.scan().heads)
            let whole = try Self.packs(mirror)
            let held = try await fixture.origin.head()
            try await mirror.hold(held, for: IntegrationID(bot: try #require(Name("kit")), number: 1))
            try await fixture.origin.git("checkout", "-q", "--orphan", "new")
            let second = try await fixture.origin.commit(files: ["a": String(repeating: "x\n", count: 500)])
            try await fixture.origin.git("branch", "-q", "-f", "main")
            try await fixture.origin.git("reflog", "expire", "--expire=now", "--all")
            try await fixture.origin.git("gc", "-q", "--prune=now")
            try await mirror.fetch(try await mirror.scan().heads)
            let damaged = try #require(try Self.packs(mirror).subtracting(whole).first)
            try await runExpectingSuccess(
                [
                    "sh", "-c",
                    "chmod u+w \(damaged); dd if=/dev/zero of=\(damaged) bs=1 seek=14 count=200 conv=notrunc",
                ],
                in: mirror.objects + "/pack")

            // when
            let checkout: () async throws -> Void = {
                _ = try await mirror.checkout(
                    second, ref: fixture.main, into: fixture.workspace, state: fixture.state, isClean: true)
            }
            await #expect(throws: SourceControlError.self) { try await checkout() }
            // Until then undamaged objects are read.
            #expect(try await mirror.contains(held))
            try await mirror.fetch([fixture.main: second])

            // then
            try await checkout()
            #expect(try Self.packs(mirror).isSuperset(of: whole))
            #expect(try await mirror.contains(held))
            let refs = try await runExpectingSuccess(["git", "-C", mirror.path, "for-each-ref", "refs/martlet"])
            #expect(refs.hasPrefix("\(held) commit\trefs/martlet/kit/1"))
            try await runExpectingSuccess(["git", "-C", mirror.path, "fsck", "--full"])
        }
    }

    /// A loss of power leaves it like this.
    @Test func testThatACommitWhoseFileIsNonsenseIsFetchedAgain() async throws {
        try await withOrigin { fixture in
            // given: hard links to a path's loose objects
            let commit = try await fixture.fetch()
            let file = "objects/\(commit.description.prefix(2))/\(commit.description.dropFirst(2))"
            let mirror = try Directory(opening: fixture.mirror.path)
            try mirror.remove(file)
            try mirror.write(file, bytes: [UInt8](repeating: 0, count: 150))

            // when
            let content = try await fixture.mirror.content(of: commit, file: nil, limit: 0)
            try await fixture.fetch()

            // then
            #expect(content == nil)
            #expect(try await fixture.mirror.details(of: commit).id == commit)
        }
    }

    /// A commit whose author has no address, as old tools made them. `git push` accepts it.
    @Test(
        .proves(
            .sourceControl,
            "A damaged pack, ref or HEAD is repaired by the next fetch, with all holds; only damaged files are removed")
    )
    func testThatACommitThatCannotBeParsedHarmsNoMirror() async throws {
        try await Self.withMirror { fixture, mirror in
            // given
            try await mirror.fetch(try await mirror.scan().heads)
            let (whole, first) = (try Self.packs(mirror), try await fixture.origin.head())
            let tree = try await fixture.origin.git("rev-parse", "HEAD^{tree}")
            let text = "tree \(tree)\nauthor broken no mail 1 +0000\ncommitter broken no mail 1 +0000\n\nOdd\n"
            let id = try await fixture.origin.git(
                ["hash-object", "-t", "commit", "--literally", "-w", "--stdin"], input: text)
            try await fixture.origin.git("update-ref", "refs/heads/odd", id)

            // when
            let odd = try #require(CommitID(id))
            let error = await #expect(throws: SourceControlError.self) {
                try await mirror.fetch([RefName(branch: "odd"): odd])
                _ = try await mirror.details(of: odd)
            }

            // then
            #expect(error?.code == .treeRefused)
            #expect(try Self.packs(mirror).isSuperset(of: whole))
            #expect(try await mirror.contains(first))
        }
    }

    /// N2: the server has lost an object of one branch.
    @Test(
        .proves(
            .sourceControl,
            "A damaged pack, ref or HEAD is repaired by the next fetch, with all holds; only damaged files are removed")
    )
    func testThatADamagedBranchOfTheServerKeepsNobodyFromTheOthers() async throws {
        try await Self.withMirror { fixture, mirror in
            // given
            try await mirror.fetch(try await mirror.scan().heads)
            let whole = try Self.packs(mirror)
            try await fixture.origin.git("checkout", "-q", "-b", "lost")
            let lost = try await fixture.origin.commit(files: ["b": "2\n"])
            try await fixture.origin.checkout("main")
            let good = try await fixture.origin.commit(files: ["c": "3\n"])
            let blob = try await fixture.origin.git("rev-parse", "lost:b")
            try Directory(opening: fixture.origin.path).remove(".git/objects/\(blob.prefix(2))/\(blob.dropFirst(2))")

            // when
            let heads = try await mirror.scan().heads
            let error = await #expect(throws: SourceControlError.self) {
                try await mirror.fetch([RefName(branch: "lost"): lost])
            }
            try await mirror.fetch([fixture.main: good])

            // then
            #expect(heads[RefName(branch: "lost")] == lost)
            #expect(error?.code == .unreachable)
            #expect(try Self.packs(mirror).isSuperset(of: whole))
            #expect(try await mirror.contains(good))
        }
    }

    /// A tag on a commit that was fetched before needs no fetch, unless the tag is an object of its own.
    @Test(.proves(.sourceControl, "A tag of a commit that is here reaches the job"), arguments: [false, true])
    func testThatATagOfAKnownCommitIsSeenByTheJobsGit(_ isAnnotated: Bool) async throws {
        try await Self.withMirror { fixture, mirror in
            // given
            let commit = try #require(try await mirror.scan().heads[fixture.main])
            try await mirror.fetch([fixture.main: commit])
            try await fixture.origin.tag("1.2.3", message: isAnnotated ? "One" : nil)

            // when
            let heads = try await mirror.scan().heads
            if isAnnotated {
                try await mirror.fetch(heads)
            } else {
                _ = try await mirror.content(of: commit, file: nil, limit: 0)
            }
            _ = try await mirror.checkout(
                commit, ref: RefName(tag: "1.2.3"), into: fixture.workspace, state: fixture.state)

            // then
            let described = try await runExpectingSuccess(
                ["git", "describe", "--tags", "--exact-match"], in: fixture.workspace,
                environment: GitRepository.environment())
            #expect(described == "1.2.3\n")
        }
    }

    /// The files that a killed fetch leaves: a guard file would keep the pack out of every repack.
    @Test func testThatAKilledFetchLeavesNothing() async throws {
        try await Self.withMirror { fixture, mirror in
            try await mirror.fetch(try await mirror.scan().heads)
            let packs = try Directory(opening: mirror.objects + "/pack")
            for name in ["pack-\(String(repeating: "0", count: 40)).keep", "tmp_pack_x", "x.temp", "pack_git2_x"] {
                try packs.write(name, bytes: [])
            }
            // when
            _ = try await fixture.origin.commit(files: ["b": "2\n"])
            try await mirror.fetch(try await mirror.scan().heads)
            // then
            let left = try packs.entries().map(\.name).filter { name in
                ![".pack", ".idx", ".rev"].contains { name.hasSuffix($0) }
            }
            #expect(left == [])
            #expect(try await mirror.contains(try await fixture.origin.head()))
        }
    }

    /// A daemon that is killed while libgit2 creates the repository leaves it like this.
    @Test(
        .proves(
            .sourceControl,
            "A damaged pack, ref or HEAD is repaired by the next fetch, with all holds; only damaged files are removed"),
        arguments: [["HEAD", "config"], ["config"]])
    func testThatAMirrorWhoseMakingWasKilledIsMade(missing: [String]) async throws {
        try await Self.withMirror { fixture, mirror in
            // given
            try await mirror.fetch(try await mirror.scan().heads)
            let directory = try Directory(opening: String(mirror.objects.dropLast("/objects".count)))
            for name in missing { try directory.remove(name) }
            for name in ["HEAD.lock", "config.lock"] { try directory.write(name, bytes: []) }

            // when, then
            try await mirror.fetch(try await mirror.scan().heads)
            #expect(try await mirror.contains(try await fixture.origin.head()))
            for name in ["HEAD.lock", "config.lock"] { #expect(try directory.status(name) == nil) }
        }
    }

    /// It is like this after a repack that failed.
    @Test(
        .proves(
            .sourceControl,
            "A damaged pack, ref or HEAD is repaired by the next fetch, with all holds; only damaged files are removed")
    )
    func testThatAMirrorThatIsFoundWholeFetchesOnlyWhatIsNew() async throws {
        try await Self.withMirror { fixture, mirror in
            // given
            try await mirror.fetch(try await mirror.scan().heads)
            try Directory(opening: mirror.path).write("martlet-damaged", bytes: [])
            _ = try await fixture.origin.commit(files: ["b": "2\n"])
            // when
            try await mirror.fetch(try await mirror.scan().heads)
            // then: two commits, two trees, two files, each once
            #expect(try Directory(opening: mirror.path).status("martlet-damaged") == nil)
            let counts = try await runExpectingSuccess(["git", "-C", mirror.path, "count-objects", "-v"])
            let objects = counts.split(separator: "\n").compactMap { line in
                line.hasPrefix("count: ") || line.hasPrefix("in-pack: ") ? Int(line.split(separator: " ")[1]) : nil
            }
            #expect(objects.reduce(0, +) == 6, "\(counts)")
        }
    }
}
