import Basics
import Model
import SourceControl
import TestSupport
import Testing

/// Looks that fetch the commits of refs that have moved.
@Suite struct FetchingTests {
    private static let topic = RefName(branch: "topic")

    /// Pushes two branches.
    private static func push(_ fixture: Fixture) async throws -> (main: CommitID, topic: CommitID) {
        try await fixture.origin.branch("topic")
        let topic = try await fixture.origin.commit(files: ["topic": "1\n"])
        try await fixture.origin.checkout("main")
        return (try await fixture.origin.commit(files: ["main": "2\n"]), topic)
    }

    @Test(
        .proves(
            .sourceControl,
            "A look fetches the new commits that integrations need, in one pack. If it cannot, it lists nevertheless; large, slow and first fetches are left to the fetch"
        ), arguments: [GitEngine.library, .program])
    func testThatCommitsAreHereAfterTheScan(_ engine: GitEngine) async throws {
        try await withOrigin { fixture in
            // given
            var mirrors: [Mirror] = []
            let pushed = try await GitDaemon.serving(fixture.directory.path("origin")) { server in
                let mirror = Mirrors(
                    directory: fixture.directory.path("others"), configuration: GitConfiguration(files: []),
                    engine: engine
                ).mirror(of: try RemoteURL("git://127.0.0.1:\(server.port)/kit", isInsecureAllowed: true))
                try await mirror.fetch(try await mirror.scan().heads)
                let pushed = try await Self.push(fixture)

                // when
                let listing = try await mirror.scan(fetching: { _, _ in true })
                #expect(listing.heads == [fixture.main: pushed.main, Self.topic: pushed.topic])
                mirrors.append(mirror)
                return pushed
            }

            // then: no server has to be asked
            let mirror = try #require(mirrors.first)
            try await mirror.fetch([fixture.main: pushed.main, Self.topic: pushed.topic])
            #expect(try await mirror.resolve("refs/heads/topic") == pushed.topic)
            _ = try await mirror.checkout(
                pushed.main, ref: fixture.main, into: fixture.workspace, state: fixture.state)
            #expect(try fixture.tree() == ["README": "kit\n", "main": "2\n"])
            try await runExpectingSuccess(["git", "-C", mirror.path, "fsck", "--full", "--strict"])
        }
    }

    @Test func testThatThoseOfAPathAreHereAfterTheScan() async throws {
        try await withOrigin { fixture in
            // given
            try await fixture.fetch()
            let pushed = try await Self.push(fixture)

            // when
            _ = try await fixture.mirror.scan(fetching: { _, _ in true })
            try await runExpectingSuccess(["rm", "-rf", fixture.origin.path])

            // then
            #expect(try await fixture.mirror.content(of: pushed.topic, file: nil, limit: 0) != nil)
            _ = try await fixture.mirror.checkout(
                pushed.main, ref: fixture.main, into: fixture.workspace, state: fixture.state)
            #expect(try fixture.tree() == ["README": "kit\n", "main": "2\n"])
        }
    }

    @Test func testThatOnlyWhatIsWantedAndHasMovedIsBrought() async throws {
        try await withOrigin { fixture in
            // given: a scan that has seen the first tip of a branch without fetching it
            try await fixture.fetch()
            let first = try await Self.push(fixture)
            _ = try await fixture.mirror.scan(fetching: { ref, _ in ref == fixture.main })
            let asked = Locked<[RefName]>([])
            let second = try await fixture.origin.commit(files: ["main": "3\n"])

            // when
            _ = try await fixture.mirror.scan(fetching: { ref, _ in
                asked.withLock { $0.append(ref) }
                return true
            })

            // then
            #expect(asked.value == [fixture.main])
            #expect(try await fixture.mirror.contains(first.main))
            #expect(try await fixture.mirror.contains(second))
            #expect(try await !fixture.mirror.contains(first.topic))
        }
    }

    @Test func testThatManyPacksAreNoticed() async throws {
        try await withOrigin { fixture in
            // given: as many as a mirror may have
            let mirror = fixture.mirror
            try await fixture.fetch()
            let packs = try Directory(opening: mirror.objects + "/pack")
            let names = (try packs.entries().count { $0.name.hasSuffix(".pack") }..<50).map { "pack-\($0).pack" }
            for name in names { try packs.write(name, bytes: []) }
            _ = try await Self.push(fixture)
            #expect(!mirror.hasManyPacks)

            // when
            _ = try await mirror.scan(fetching: { _, _ in true })

            // then
            #expect(mirror.hasManyPacks)

            // when: there are few again
            for name in names { try packs.remove(name) }
            #expect(try await !mirror.repack())

            // then
            #expect(!mirror.hasManyPacks)
        }
    }

    @Test func testThatAFirstMirrorIsLeftToTheFetch() async throws {
        try await withOrigin { fixture in
            // when
            let listing = try await fixture.mirror.scan(fetching: { _, _ in true })

            // then
            let tip = try #require(listing.heads[fixture.main])
            #expect(try await !fixture.mirror.contains(tip))
        }
    }

    /// A pack above the limit of a scan, and below that of a fetch.
    @Test(
        .proves(
            .sourceControl,
            "A look fetches the new commits that integrations need, in one pack. If it cannot, it lists nevertheless; large, slow and first fetches are left to the fetch"
        ))
    func testThatALargePackIsLeftToTheFetch() async throws {
        var limits = NetworkLimits()
        limits.fetchedBytes = 1
        try await withOrigin { fixture in
            try await GitDaemon.serving(fixture.directory.path("origin")) { server in
                // given
                let mirror = Mirrors(
                    directory: fixture.directory.path("others"), limits: limits,
                    configuration: GitConfiguration(files: []), engine: .library
                ).mirror(of: try RemoteURL("git://127.0.0.1:\(server.port)/kit", isInsecureAllowed: true))
                try await mirror.fetch(try await mirror.scan().heads)
                let pushed = try await Self.push(fixture)

                // when
                let listing = try await mirror.scan(fetching: { _, _ in true })

                // then
                #expect(listing.heads == [fixture.main: pushed.main, Self.topic: pushed.topic])
                #expect(try await !mirror.contains(pushed.main))
                try await mirror.fetch([fixture.main: pushed.main])
                #expect(try await mirror.contains(pushed.main))
            }
        }
    }

    /// Runs a server that lists its refs, and for a while answers no other request.
    private static func serving(
        _ fixture: Fixture, sendsPacks: Locked<Bool>,
        _ body: (Mirror, ScriptedHTTPServer, _ push: () async throws -> CommitID) async throws -> Void
    ) async throws {
        let served = Locked(try await HTTPTransportTests.Served(fixture))
        try await ScriptedHTTPServer.serving(bytes: { head in
            if head.hasPrefix("GET ") { return served.value.listAnswer }
            return sendsPacks.value
                ? served.value.packAnswer : Array("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n".utf8)
        }) { server in
            let mirror = try HTTPTransportTests.mirror(server, in: fixture.directory)
            try await mirror.fetch([fixture.main: served.value.commit])
            let count = Locked(0)
            try await body(mirror, server) {
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                _ = try await fixture.origin.commit(files: ["a": "\(number)\n"])
                let next = try await HTTPTransportTests.Served(fixture)
                served.withLock { $0 = next }
                return next.commit
            }
        }
    }

    @Test(
        .proves(
            .sourceControl,
            "A look fetches the new commits that integrations need, in one pack. If it cannot, it lists nevertheless; large, slow and first fetches are left to the fetch"
        ))
    func testThatOneListAndOnePackAreAskedForEachPush() async throws {
        try await withOrigin { fixture in
            try await Self.serving(fixture, sendsPacks: Locked(true)) { mirror, server, push in
                // given
                let before = server.requests.count
                let tip = try await push()

                // when: a scan, the fetch of an integration's commit, and a scan that finds nothing new
                _ = try await mirror.scan(fetching: { _, _ in true })
                try await mirror.fetch([fixture.main: tip])
                _ = try await mirror.scan(fetching: { _, _ in true })

                // then
                let requests = server.requests.dropFirst(before).map { String($0.prefix { $0 != " " }) }
                #expect(requests == ["GET", "POST", "GET"])
                #expect(try await mirror.contains(tip))
            }
        }
    }

    @Test(
        .proves(
            .sourceControl,
            "A look fetches the new commits that integrations need, in one pack. If it cannot, it lists nevertheless; large, slow and first fetches are left to the fetch"
        ))
    func testThatAScanThatCannotFetchListsAndWaitsBeforeItTriesAgain() async throws {
        try await withOrigin { fixture in
            let sendsPacks = Locked(true)
            try await Self.serving(fixture, sendsPacks: sendsPacks) { mirror, server, push in
                // given
                sendsPacks.withLock { $0 = false }
                func posts() -> Int { server.requests.count { $0.hasPrefix("POST ") } }
                let before = posts()

                // when: more pushes than looks pause
                var tips: [CommitID?] = []
                for _ in 0...10 {
                    let tip = try await push()
                    let listing = try await mirror.scan(fetching: { _, _ in true })
                    tips.append(listing.heads[fixture.main] == tip ? tip : nil)
                }

                // then: the scan did not fail, and the server was asked once
                #expect(!tips.contains(nil))
                #expect(posts() == before + 1)

                // and when it can
                sendsPacks.withLock { $0 = true }
                let tip = try await push()
                _ = try await mirror.scan(fetching: { _, _ in true })

                // then
                #expect(posts() == before + 2)
                #expect(try await mirror.contains(tip))
            }
        }
    }

    /// Each scan wants the default branch until the mirror has it.
    @Test(
        .proves(
            .sourceControl,
            "A look fetches the new commits that integrations need, in one pack. If it cannot, it lists nevertheless; large, slow and first fetches are left to the fetch"
        ))
    func testThatABranchThatCannotBeBroughtIsTriedMoreAndMoreSeldom() async throws {
        try await withOrigin { fixture in
            let sendsPacks = Locked(true)
            try await Self.serving(fixture, sendsPacks: sendsPacks) { mirror, server, push in
                // given
                sendsPacks.withLock { $0 = false }
                func posts() -> Int { server.requests.count { $0.hasPrefix("POST ") } }
                let before = posts()
                let tip = try await push()

                // when: pauses of 10 and of 20 looks, and the scans before each
                var tries: [Int] = []
                for scan in 1...32 {
                    let earlier = posts()
                    _ = try await mirror.scan(fetching: { _, _ in true })
                    if posts() > earlier { tries.append(scan) }
                }

                // then
                #expect(tries == [1, 12])
                #expect(posts() == before + 2)

                // and the next one can
                sendsPacks.withLock { $0 = true }
                _ = try await mirror.scan(fetching: { _, _ in true })

                // then
                #expect(try await mirror.contains(tip))
            }
        }
    }

    @Test(
        .proves(
            .sourceControl,
            "A look fetches the new commits that integrations need, in one pack. If it cannot, it lists nevertheless; large, slow and first fetches are left to the fetch"
        ))
    func testThatDamageThatAScanMeetsIsLeftToTheNextFetch() async throws {
        try await withOrigin(["a": String(repeating: "line\n", count: 2000)]) { fixture in
            try await Self.serving(fixture, sendsPacks: Locked(true)) { mirror, _, push in
                // given: the commit that the mirror's branch leads to cannot be read, and the server is told that the mirror has it
                let first = try await fixture.origin.head()
                let script = """
                    chmod u+w *.pack; p=$(ls *.pack); s=$(stat -c %s $p)
                    dd if=/dev/zero of=$p bs=1 seek=14 count=$((s - 40)) conv=notrunc 2>/dev/null
                    """
                try await runExpectingSuccess(["sh", "-c", script], in: mirror.objects + "/pack")
                let tip = try await push()
                #expect(await !mirror.isMarkedDamaged)

                // when
                let listing = try await mirror.scan(fetching: { _, _ in true })

                // then
                #expect(listing.heads == [fixture.main: tip])
                #expect(await mirror.isMarkedDamaged)
                #expect(try await mirror.content(of: first, file: nil, limit: 0) == nil)
            }
        }
    }
}
