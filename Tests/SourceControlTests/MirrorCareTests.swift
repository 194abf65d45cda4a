import Basics
import Model
import SourceControl
import TestSupport
import Testing

/// The maintenance that keeps a mirror complete and fast.
@Suite struct MirrorCareTests {
    @Test(.proves(.sourceControl, "Mirrors with many packs are repacked, nothing dropped"))
    func testThatManyPacksAreJoinedAndNothingIsLost() async throws {
        try await withOrigin { fixture in
            // given: a held commit that no branch leads to, and 50 fetches
            let held = try await fixture.fetch()
            try await fixture.mirror.hold(held, for: IntegrationID(bot: try #require(Name("kit")), number: 1))
            try await fixture.origin.git("checkout", "-q", "--orphan", "new")
            try await fixture.origin.git("branch", "-q", "-D", "main")
            try await fixture.origin.git("checkout", "-q", "-b", "main")
            var commits: [CommitID] = []
            for number in 0..<51 {
                commits.append(try await fixture.origin.commit(files: ["a": "\(number)\n"]))
                try await fixture.fetch()
            }
            #expect(
                try await !Mirrors(directory: fixture.directory.path("x"), engine: .library).mirror(
                    of: fixture.mirror.url
                ).repack())

            // when
            let isDone = try await fixture.mirror.repack()

            // then
            #expect(isDone)
            let packs = try Directory(opening: fixture.mirror.objects + "/pack").entries().count {
                $0.name.hasSuffix(".pack")
            }
            #expect(packs < 10)
            for commit in commits + [held] { #expect(try await fixture.mirror.contains(commit)) }
            #expect(try await !fixture.mirror.repack())
            try await runExpectingSuccess(["git", "-C", fixture.mirror.path, "fsck", "--full"])
        }
    }

    /// The ways in which files are lost or changed. The next checkout at the latest finds each of them.
    @Test(
        .proves(
            .sourceControl,
            "A damaged pack, ref or HEAD is repaired by the next fetch, with all holds; only damaged files are removed"),
        arguments: ["pack cut", "pack gone", "index of the pack gone", "byte of the pack", "HEAD", "packed-refs"])
    func testThatDamageIsMendedAndHoldsAreKept(_ damage: String) async throws {
        try await withOrigin(["a": String(repeating: "line\n", count: 2000), "b/c": "1\n"]) { fixture in
            // given: fetched over a connection, so that the mirror has its own files
            try await GitDaemon.serving(fixture.directory.path("origin")) { server in
                let mirror = Mirrors(
                    directory: fixture.directory.path("others"), configuration: GitConfiguration(files: [])
                ).mirror(of: try RemoteURL("git://127.0.0.1:\(server.port)/kit", isInsecureAllowed: true))
                let heads = try await mirror.scan().heads
                try await mirror.fetch(heads)
                let commit = try #require(heads[fixture.main])
                try await mirror.hold(commit, for: IntegrationID(bot: try #require(Name("kit")), number: 1))
                let script = """
                    chmod -R u+w objects; p=$(ls objects/pack/*.pack)
                    case '\(damage)' in
                    'pack cut') truncate -s -30 $p ;;
                    'pack gone') rm $p ;;
                    'index of the pack gone') rm ${p%.pack}.idx ;;
                    'byte of the pack') s=$(stat -c %s $p); dd if=/dev/zero of=$p bs=1 seek=14 count=$((s - 40)) conv=notrunc 2>/dev/null ;;
                    *) echo nonsense > '\(damage)' ;;
                    esac
                    """
                try await runExpectingSuccess(["sh", "-c", script], in: mirror.path)

                // when: an integration meets it, and the next one follows
                func integrate() async throws {
                    let heads = try await mirror.scan().heads
                    try await mirror.fetch(heads)
                    _ = try await mirror.checkout(
                        commit, ref: fixture.main, into: fixture.workspace, state: fixture.state, isClean: true)
                }
                do { try await integrate() } catch { try await integrate() }

                // then
                #expect(try fixture.tree().keys.sorted() == ["a", "b/c"])
                let refs = try await runExpectingSuccess(
                    ["git", "-C", mirror.path, "for-each-ref", "--format=%(refname) %(objectname)"])
                #expect(refs.contains("refs/martlet/kit/1 \(commit)\n"))
                try await runExpectingSuccess(["git", "-C", mirror.path, "fsck", "--full"])
            }
        }
    }

    @Suite(
        .proves(
            .sourceControl,
            "A force-push meanwhile mixes no trees; a repository made anew at the same address is fetched (N3, N4)"))
    struct GivenARepositoryThatChangesUnderIt {
        /// Another repository at the same address: an unrelated history, the same branch.
        @Test func testThatARepositoryThatWasMadeAnewIsFetched() async throws {
            try await withOrigin { fixture in
                // given
                let old = try await fixture.fetch()
                try await runExpectingSuccess(["rm", "-rf", fixture.origin.path])
                let error = await expectRejection(SourceControlError.self, \.code, .repositoryNotFound) {
                    try await fixture.mirror.scan()
                }
                expectContains("\(try #require(error))", "there is no git repository")

                // when
                let origin = try await GitRepository.make(at: fixture.origin.path)
                _ = try await origin.commit(files: ["other": "1\n"], message: "Another")
                let new = try await fixture.fetch()

                // then
                #expect(new != old)
                #expect(try await fixture.mirror.resolve("refs/heads/main") == new)
                _ = try await fixture.mirror.checkout(
                    new, ref: fixture.main, into: fixture.workspace, state: fixture.state)
                #expect(try fixture.tree() == ["other": "1\n"])
            }
        }

        /// N3: the named commit is checked out completely, while a branch is pushed back and forth between two histories.
        @Test(.threat("N3"), arguments: [GitEngine.library, .program])
        func testThatAForcePushMeanwhileMixesNothing(engine: GitEngine) async throws {
            try await withOrigin(["a": "1\n", "b": "1\n"]) { fixture in
                // given
                let origin = fixture.origin
                let first = try await origin.head()
                try await origin.git("checkout", "-q", "--orphan", "other")
                let second = try await origin.commit(files: ["a": "2\n", "c": "2\n"], removing: ["b"])
                let trees = [first: ["a": "1\n", "b": "1\n"], second: ["a": "2\n", "c": "2\n"]]
                try await GitDaemon.serving(fixture.directory.path("origin")) { server in
                    let mirror = Mirrors(
                        directory: fixture.directory.path("others"), configuration: GitConfiguration(files: []),
                        engine: engine
                    ).mirror(of: try RemoteURL("git://127.0.0.1:\(server.port)/kit", isInsecureAllowed: true))
                    let isDone = Locked(false)
                    let pushes = Locked(0)

                    // when
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        group.addTask {
                            while !isDone.value {
                                for commit in [second, first] {
                                    try await origin.git("update-ref", "refs/heads/main", commit.description)
                                    pushes.withLock { $0 += 1 }
                                }
                            }
                        }
                        defer { isDone.withLock { $0 = true } }
                        var seen: Set<CommitID> = []
                        // Until both were checked out, and often enough for a push in between.
                        for round in 1... where round <= 10 || seen.count < 2 {
                            guard let named = try await mirror.scan().heads[fixture.main] else { continue }
                            do {
                                try await mirror.fetch([fixture.main: named])
                            } catch let error as SourceControlError where error.code == .refGone {
                                continue
                            }
                            _ = try await mirror.checkout(
                                named, ref: fixture.main, into: fixture.workspace, state: fixture.state)

                            // then
                            #expect(try fixture.tree() == trees[named])
                            seen.insert(named)
                            if round >= 10, seen.count == 2 { break }
                        }
                    }
                    #expect(pushes.value > 10)
                }
            }
        }
    }

    /// N5: 100,000 refs are listed, fetched from and written within the time and memory of one operation.
    @Test(
        .proves(
            .sourceControl,
            "100,000 refs in one scan, by libgit2 and by git; only branches and tags count to the limit (N5)"),
        .proves(
            .sourceControl, "First mirrors, fetch and checkout, 100,000 refs and 20,000 files beside the git command"),
        .threat("N5"), arguments: [GitEngine.library, .automatic])
    func testThatAHundredThousandRefsAreListed(_ engine: GitEngine) async throws {
        try await withOrigin { fixture in
            // given
            let commit = try await fixture.origin.head()
            let lines = (0..<100_000).map { "\(commit) refs/heads/topic/\($0)" }.sorted().joined(separator: "\n")
            try AtomicFile.write(
                Array("# pack-refs with: peeled fully-peeled sorted \n\(lines)\n".utf8),
                to: fixture.origin.path + "/.git/packed-refs")
            try await GitDaemon.serving(fixture.directory.path("origin")) { server in
                let mirror = Mirrors(
                    directory: fixture.directory.path("others"), configuration: GitConfiguration(files: []),
                    engine: engine
                ).mirror(of: try RemoteURL("git://127.0.0.1:\(server.port)/kit", isInsecureAllowed: true))

                // when
                let clock = ContinuousClock()
                var heads: [RefName: CommitID] = [:]
                let duration = try await clock.measure { heads = try await mirror.scan().heads }
                try await mirror.fetch([fixture.main: commit])

                // then
                #expect(heads.count == 100_001)
                #expect(duration < .seconds(10) * TestLimits.scale)
                #expect(try await mirror.resolve("refs/heads/topic/99999") == commit)
            }
        }
    }
}
