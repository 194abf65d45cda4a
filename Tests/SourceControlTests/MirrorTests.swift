import Basics
import Model
import SourceControl
import TestSupport
import Testing

@Suite struct MirrorTests {
    @Suite struct WhenItScans {
        @Test(.proves(.sourceControl, "A look lists branches and peeled tags"))
        func testThatItListsBranchesAndPeeledTags() async throws {
            try await withOrigin { fixture in
                // given
                let first = try await fixture.origin.head()
                try await fixture.origin.tag("light")
                try await fixture.origin.tag("heavy", message: "Annotated")
                try await fixture.origin.branch("release/1.0")
                let second = try await fixture.origin.commit(files: ["b": "2\n"])
                try await fixture.origin.git("update-ref", "refs/pull/1/head", second.description)
                try await fixture.origin.git("update-ref", "refs/notes/commits", second.description)
                try await fixture.origin.checkout("main")

                // when
                let listing = try await fixture.mirror.scan()

                // then
                #expect(
                    listing.heads == [
                        fixture.main: first, RefName(tag: "light"): first, RefName(tag: "heavy"): first,
                        RefName(branch: "release/1.0"): second,
                    ])
                #expect(listing.defaultBranch == fixture.main)
            }
        }

        /// G14.
        @Test func testThatATagAndABranchOfOneNameStayApart() async throws {
            try await withOrigin { fixture in
                let first = try await fixture.origin.head()
                try await fixture.origin.git("tag", "v1")
                try await fixture.origin.git("checkout", "-q", "-b", "v1")
                let second = try await fixture.origin.commit(files: ["b": "2\n"])
                try await fixture.origin.git("update-ref", "refs/heads/refs/tags/v1", second.description)
                let heads = try await fixture.mirror.scan().heads
                try await fixture.mirror.fetch(heads)
                #expect(heads[RefName(tag: "v1")] == first)
                #expect(heads[RefName(branch: "v1")] == second)
                #expect(heads[RefName(branch: "refs/tags/v1")] == second)
                #expect(try await fixture.mirror.resolve("refs/tags/v1") == first)
                #expect(try await fixture.mirror.resolve("refs/heads/v1") == second)
            }
        }

        @Test(.proves(.badInput, "A repository that does not exist is reported"))
        func testThatItSaysWhenThereIsNoRepository() async throws {
            try await withTemporaryDirectory { directory in
                for path in ["nowhere", "plain"] {
                    try directory.makeDirectory("plain")
                    let url = try RemoteURL(directory.path(path), isInsecureAllowed: false)
                    let mirror = Mirrors(directory: directory.path("repositories")).mirror(of: url)
                    let error = await expectRejection(SourceControlError.self, \.code, .repositoryNotFound) {
                        try await mirror.scan()
                    }
                    expectContains("\(try #require(error))", "there is no git repository at this path")
                    #expect(!"\(try #require(error))".contains("URL protocol"))
                    expectContains("\(try #require(error))", directory.path(path))
                }
            }
        }

        @Test func testThatItSaysWhenTheRepositoryIsEmpty() async throws {
            try await withTemporaryDirectory { directory in
                let origin = try await GitRepository.make(at: directory.path("empty.git"), isBare: true)
                let url = try RemoteURL(origin.path, isInsecureAllowed: false)
                let mirror = Mirrors(directory: directory.path("repositories")).mirror(of: url)
                await expectRejection(SourceControlError.self, \.code, .empty) { try await mirror.scan() }
            }
        }

        @Test(
            .proves(
                .sourceControl,
                "100,000 refs in one scan, by libgit2 and by git; only branches and tags count to the limit (N5)"))
        func testThatItRefusesTooManyRefs() async throws {
            var limits = NetworkLimits()
            limits.refs = 3
            try await withOrigin(limits: limits) { fixture in
                for name in ["a", "b"] { try await fixture.origin.git("branch", name) }
                #expect(try await fixture.mirror.scan().heads.count == 3)
                // The refs of pull requests are listed too, and not kept.
                let head = try await fixture.origin.head().description
                for number in 1...20 {
                    try await fixture.origin.git("update-ref", "refs/pull/\(number)/head", head)
                }
                for engine in [GitEngine.library, .program] {
                    #expect(try await fixture.other(engine, limits: limits).scan().heads.count == 3)
                }
                try await fixture.origin.git("branch", "c")
                await expectRejection(SourceControlError.self, \.code, .tooLarge) { try await fixture.mirror.scan() }
            }
        }
    }

    @Suite struct WhenItFetches {
        @Test(.proves(.sourceControl, "A commit can be fetched after its branch has moved on"))
        func testThatACommitIsHadWhenItsBranchHasMovedOn() async throws {
            try await withOrigin { fixture in
                // given
                let heads = try await fixture.mirror.scan().heads
                let later = try await fixture.origin.commit(files: ["a": "2\n"])

                // when
                try await fixture.mirror.fetch(heads)

                // then
                #expect(try await fixture.mirror.contains(try #require(heads[fixture.main])))
                #expect(try await fixture.mirror.resolve("refs/heads/main") == later)
            }
        }

        @Test func testThatAForcePushedCommitThatIsHereNeedsNoServer() async throws {
            try await withOrigin { fixture in
                // given
                _ = try await fixture.origin.commit(files: ["a": "1\n"], message: "Seen")
                let heads = try await fixture.mirror.scan().heads
                try await fixture.mirror.fetch(heads)
                try await fixture.origin.git("reset", "-q", "--hard", "HEAD~1")
                let now = try await fixture.origin.commit(files: ["a": "2\n"], message: "Forced")

                // when
                try await fixture.mirror.fetch(heads)
                try await fixture.fetch()

                // then
                #expect(try await fixture.mirror.contains(try #require(heads[fixture.main])))
                #expect(try await fixture.mirror.resolve("refs/heads/main") == now)
            }
        }

        @Test(.proves(.badInput, "A ref that is gone is reported"))
        func testThatADeletedRefIsGone() async throws {
            try await withOrigin { fixture in
                // given
                try await fixture.origin.branch("feature")
                _ = try await fixture.origin.commit(files: ["a": "1\n"])
                let heads = try await fixture.mirror.scan().heads
                try await fixture.origin.checkout("main")
                try await fixture.origin.git("branch", "-q", "-D", "feature")

                // when
                let error = await expectRejection(SourceControlError.self, \.code, .refGone) {
                    try await fixture.mirror.fetch(heads)
                }

                // then
                expectContains("\(try #require(error))", "refs/heads/feature was deleted")
                #expect(try await fixture.mirror.contains(try #require(heads[fixture.main])))
            }
        }

        @Test(
            .proves(
                .sourceControl,
                "A tag of a file or a directory is no commit: it is canceled with that reason, and keeps nobody from other refs"
            ), arguments: [GitEngine.library, .program])
        func testThatATagOfAFileIsNoCommit(engine: GitEngine) async throws {
            try await withOrigin { fixture in
                // given
                let commit = try await fixture.origin.head()
                let (tag, blob) = (RefName(tag: "a"), try await fixture.origin.git("rev-parse", "HEAD:README"))
                try await fixture.origin.git("tag", "a", blob)
                let mirror = try fixture.other(engine)
                let heads = try await mirror.scan().heads

                // when
                let error = await expectRejection(SourceControlError.self, \.code, .notACommit) {
                    try await mirror.fetch(heads)
                }

                // then: everything else was fetched, and the tag is refused again
                expectContains(
                    "\(try #require(error))",
                    "refs/tags/a leads to \(blob.prefix(12)), which is a file or a directory, not a commit")
                #expect(try await mirror.contains(commit))
                await expectRejection(SourceControlError.self, \.code, .notACommit) {
                    try await mirror.fetch([tag: try #require(heads[tag])])
                }
            }
        }

        @Test func testThatADirectoryCanBecomeABranch() async throws {
            try await withOrigin { fixture in
                try await fixture.origin.git("branch", "a/b")
                try await fixture.fetch(RefName(branch: "a/b"))
                try await fixture.origin.git("branch", "-q", "-D", "a/b")
                _ = try await fixture.origin.commit(files: ["a": "1\n"])
                try await fixture.origin.git("branch", "a")
                let commit = try await fixture.fetch(RefName(branch: "a"))
                #expect(try await fixture.mirror.resolve("refs/heads/a") == commit)
                #expect(try await fixture.mirror.resolve("refs/heads/a/b") == nil)
            }
        }

        @Test func testThatTagsOfFetchedCommitsComeAlong() async throws {
            try await withOrigin { fixture in
                let commit = try await fixture.origin.head()
                try await fixture.origin.tag("1.0.0", message: "One")
                try await fixture.fetch()
                #expect(try await fixture.mirror.resolve("refs/tags/1.0.0") == commit)
            }
        }

        @Test(
            .proves(
                .sourceControl,
                "The git command behind the same interface, kept from every configuration but ours: https, ssh, paths, first mirrors"
            ), arguments: [GitEngine.library, .program])
        func testThatALimitOfBytesIsKept(engine: GitEngine) async throws {
            var limits = NetworkLimits()
            limits.bytes = 10_000
            let large = (0..<20_000).map { "\($0 &* 2_654_435_761)\n" }.joined()
            try await withOrigin(["large": large], limits: limits) { fixture in
                // A repository of the local file system is copied without a connection; a server's bytes are counted.
                let heads = try await fixture.mirror.scan().heads
                try await GitDaemon.serving(fixture.directory.path("origin")) { server in
                    let mirror = Mirrors(directory: fixture.directory.path("others"), limits: limits, engine: engine)
                        .mirror(of: try RemoteURL("git://127.0.0.1:\(server.port)/kit", isInsecureAllowed: true))
                    await expectRejection(SourceControlError.self, \.code, .tooLarge) { try await mirror.fetch(heads) }
                }
            }
        }
    }

    @Test(.proves(.sourceControl, "`refs/martlet/<bot>/<number>` holds each integration's commit"))
    func testThatHeldCommitsOutliveTheirBranchAndAreReleased() async throws {
        try await withOrigin { fixture in
            // given
            let kit = try #require(Name("kit"))
            let odd = try #require(Name("a..b.lock"))
            let commit = try await fixture.fetch()

            // when
            for bot in [kit, odd] { try await fixture.mirror.hold(commit, for: IntegrationID(bot: bot, number: 3)) }

            // then
            let refs = try await runExpectingSuccess(
                ["git", "-C", fixture.mirror.path, "for-each-ref", "--format=%(refname) %(objectname)", "refs/martlet"])
            #expect(refs == "refs/martlet/a%2e%2eb%2elock/3 \(commit)\nrefs/martlet/kit/3 \(commit)\n")
            try await fixture.mirror.release(IntegrationID(bot: kit, number: 3))
            try await fixture.mirror.release(IntegrationID(bot: kit, number: 4))
            let left = try await runExpectingSuccess(
                ["git", "-C", fixture.mirror.path, "for-each-ref", "--format=%(refname)", "refs/martlet"])
            #expect(left == "refs/martlet/a%2e%2eb%2elock/3\n")
            try await runExpectingSuccess(["git", "-C", fixture.mirror.path, "fsck", "--full", "--strict"])
        }
    }

    /// A daemon that is killed while libgit2 writes the ref leaves it like this.
    @Test func testThatALockThatAKilledDaemonLeftHindersNoHold() async throws {
        try await withOrigin { fixture in
            // given
            let id = IntegrationID(bot: try #require(Name("kit")), number: 7)
            let commit = try await fixture.fetch()
            let mirror = try Directory(opening: fixture.mirror.path)
            try mirror.makeDirectories("refs/martlet/kit")
            try mirror.write("refs/martlet/kit/7.lock", bytes: [])

            // when
            try await fixture.mirror.hold(commit, for: id)

            // then
            #expect(try mirror.status("refs/martlet/kit/7") != nil)
            #expect(try mirror.status("refs/martlet/kit/7.lock") == nil)

            // when: it was killed during the release
            try mirror.write("refs/martlet/kit/7.lock", bytes: [])
            try await fixture.mirror.release(id)

            // then
            #expect(try mirror.entries("refs/martlet/kit").isEmpty)
        }
    }

    @Test func testThatACommitThatIsNotHereCannotBeHeld() async throws {
        try await withOrigin { fixture in
            let commit = try #require(CommitID("00000000000000000000000000000000000000aa"))
            let id = IntegrationID(bot: try #require(Name("kit")), number: 1)
            await expectRejection(SourceControlError.self, \.code, .commitMissing) {
                try await fixture.mirror.hold(commit, for: id)
            }
            await expectRejection(SourceControlError.self, \.code, .commitMissing) {
                try await fixture.mirror.details(of: commit)
            }
        }
    }

    @Suite struct GivenADamagedMirror {
        @Test(
            .proves(.sourceControl, "One bare mirror a repository, mended when damaged"),
            arguments: ["config", "HEAD", "objects", "packed-refs"])
        func testThatItIsMadeAnewAndKeepsItsHolds(_ what: String) async throws {
            try await withOrigin { fixture in
                // given
                let commit = try await fixture.fetch()
                let id = IntegrationID(bot: try #require(Name("kit")), number: 1)
                try await fixture.mirror.hold(commit, for: id)
                let mirror = try Directory(opening: fixture.mirror.path)
                switch what {
                case "objects", "HEAD": try mirror.remove(what)
                default: try mirror.write(what, bytes: Array("[[[ nonsense\n".utf8))
                }
                // An operation that meets the damage marks the mirror.
                _ = try? await fixture.mirror.resolve("refs/heads/main")

                // when
                let heads = try await fixture.mirror.scan().heads
                try await fixture.mirror.fetch(heads)

                // then
                #expect(try await fixture.mirror.contains(commit))
                let refs = try await runExpectingSuccess(
                    [
                        "git", "-C", fixture.mirror.path, "for-each-ref", "--format=%(refname) %(objectname)",
                        "refs/martlet",
                    ])
                #expect(refs == "refs/martlet/kit/1 \(commit)\n")
                try await runExpectingSuccess(["git", "-C", fixture.mirror.path, "fsck", "--full"])
            }
        }

        @Test func testThatAMissingBlobIsFoundByACheckoutAndMendedByTheNextFetch() async throws {
            try await withOrigin(["a": "1\n"]) { fixture in
                // given
                let commit = try await fixture.fetch()
                let mirror = try Directory(opening: fixture.mirror.path)
                try await runExpectingSuccess(
                    [
                        "sh", "-c",
                        "mv objects/pack p && for i in p/*.pack; do git unpack-objects -q < $i; done; rm -rf p; mkdir objects/pack",
                    ],
                    in: fixture.mirror.path)
                let blob = try await fixture.origin.git("rev-parse", "HEAD:a")
                try mirror.remove("objects/\(blob.prefix(2))/\(blob.dropFirst(2))")

                // when
                await expectRejection(SourceControlError.self, \.code, .mirrorDamaged) {
                    try await fixture.mirror.checkout(
                        commit, ref: fixture.main, into: fixture.workspace, state: fixture.state)
                }
                _ = try await fixture.checkout()

                // then
                #expect(try fixture.tree() == ["a": "1\n"])
            }
        }
    }

    @Test(.proves(.sourceControl, "One bare mirror a repository, mended when damaged"))
    func testThatMirrorsOfDifferentRepositoriesAreApart() throws {
        let mirrors = Mirrors(directory: "/nowhere", configuration: GitConfiguration(files: []))
        func path(_ url: String) throws -> String {
            mirrors.mirror(of: try RemoteURL(url, isInsecureAllowed: true)).path
        }
        #expect(try path("https://a/kit.git") != path("https://b/kit.git"))
        #expect(try path("https://a/kit.git") == path("HTTPS://A/kit.git"))
        #expect(try path("https://a/My Kit.git".replacing(" ", with: "-")).hasPrefix("/nowhere/my-kit-"))
    }
}
