import Basics
import Glibc
import Model
import SourceControl
import TestSupport
import Testing

@Suite struct NetworkTests {
    @Test(.proves(.sourceControl, "A commit can be fetched after its branch has moved on"))
    func testThatItFetchesFromAServer() async throws {
        try await withOrigin { fixture in
            // given
            let commit = try await fixture.origin.head()
            try await GitDaemon.serving(fixture.directory.path("origin")) { server in
                let url = try RemoteURL("git://127.0.0.1:\(server.port)/kit", isInsecureAllowed: true)
                let mirror = Mirrors(directory: fixture.directory.path("others")).mirror(of: url)

                // when
                let heads = try await mirror.scan().heads
                try await mirror.fetch(heads)
                let later = try await fixture.origin.commit(files: ["b": "2\n"])
                try await mirror.fetch(try await mirror.scan().heads)

                // then
                #expect(heads == [fixture.main: commit])
                #expect(try await mirror.contains(later))
            }
        }
    }

    @Test(.proves(.badInput, "A repository that does not exist is reported"))
    func testThatItSaysWhenAServerHasNoSuchRepository() async throws {
        try await withOrigin { fixture in
            try await GitDaemon.serving(fixture.directory.path("origin")) { server in
                let url = try RemoteURL("git://127.0.0.1:\(server.port)/absent", isInsecureAllowed: true)
                let mirror = Mirrors(directory: fixture.directory.path("others")).mirror(of: url)
                await expectRejection(SourceControlError.self, \.code, .repositoryNotFound) { try await mirror.scan() }
            }
        }
    }

    /// A force push between look and fetch, with a server that provides only the commits of its refs (git's default).
    @Test func testThatAReplacedCommitOfAServerIsGone() async throws {
        try await withOrigin { fixture in
            // given
            try await GitDaemon.serving(fixture.directory.path("origin")) { server in
                let url = try RemoteURL("git://127.0.0.1:\(server.port)/kit", isInsecureAllowed: true)
                let mirror = Mirrors(directory: fixture.directory.path("others")).mirror(of: url)
                _ = try await fixture.origin.commit(files: ["a": "1\n"], message: "Seen")
                let heads = try await mirror.scan().heads
                try await fixture.origin.git("reset", "-q", "--hard", "HEAD~1")
                let now = try await fixture.origin.commit(files: ["a": "2\n"], message: "Forced")

                // when
                let error = await expectRejection(SourceControlError.self, \.code, .refGone) {
                    try await mirror.fetch(heads)
                }

                // then
                expectContains("\(try #require(error))", "was replaced")
                #expect(try await mirror.contains(now))
            }
        }
    }

    @Test(
        .proves(.sourceControl, "Git operations have time limits for silence and for the whole operation"),
        .threat("N1"),
        arguments: [
            (GitEngine.automatic, "git"), (.automatic, "http"), (.automatic, "https"), (.automatic, "ssh"),
            (.library, "https"),
            (.library, "ssh"),
        ])
    func testThatASilentServerIsGivenUp(_ engine: GitEngine, _ scheme: String) async throws {
        try await withTemporaryDirectory { directory in
            // given
            let server = try LoopbackSocket()
            var limits = NetworkLimits()
            limits.silence = .milliseconds(200)
            limits.interval = .milliseconds(20)
            let url = try RemoteURL("\(scheme)://127.0.0.1:\(server.port)/kit", isInsecureAllowed: true)
            let mirror = Mirrors(directory: directory.path("repositories"), limits: limits, engine: engine).mirror(
                of: url)

            // when
            let start = ContinuousClock.now
            let error = await expectRejection(SourceControlError.self, \.code, .timedOut) { try await mirror.scan() }

            // then
            #expect(ContinuousClock.now - start < .seconds(5) * TestLimits.scale)
            expectContains("\(try #require(error))", "sent nothing for 0.2 seconds")
            // The queue is free again.
            let id = try #require(CommitID("00000000000000000000000000000000000000aa"))
            #expect(try await mirror.contains(id) == false)
        }
    }

    @Test(.proves(.sourceControl, "Git operations have time limits for silence and for the whole operation"))
    func testThatAWholeScanHasALimit() async throws {
        try await withTemporaryDirectory { directory in
            let server = try LoopbackSocket()
            var limits = NetworkLimits()
            limits.scan = .milliseconds(100)
            limits.interval = .milliseconds(20)
            let url = try RemoteURL("git://127.0.0.1:\(server.port)/kit", isInsecureAllowed: true)
            let mirror = Mirrors(directory: directory.path("repositories"), limits: limits).mirror(of: url)
            let error = await expectRejection(SourceControlError.self, \.code, .timedOut) { try await mirror.scan() }
            expectContains("\(try #require(error))", "it did not finish within 0.1 seconds")
        }
    }

    @Test(
        .proves(.sourceControl, "Git operations have time limits for silence and for the whole operation"),
        arguments: ["git", "http", "https"])
    func testThatACanceledScanEndsAtOnce(_ scheme: String) async throws {
        try await withTemporaryDirectory { directory in
            let server = try LoopbackSocket()
            let url = try RemoteURL("\(scheme)://127.0.0.1:\(server.port)/kit", isInsecureAllowed: true)
            let mirror = Mirrors(directory: directory.path("repositories"), engine: .library).mirror(of: url)
            let code = await withTaskGroup(of: SourceControlError.Code?.self) { group in
                group.addTask {
                    do throws(SourceControlError) {
                        _ = try await mirror.scan()
                        return nil
                    } catch {
                        return error.code
                    }
                }
                group.addTask {
                    // It is in the middle of the operation when the connection exists.
                    await server.connection()
                    return nil
                }
                var code: SourceControlError.Code?
                _ = await group.next()
                group.cancelAll()
                for await next in group { code = next ?? code }
                return code
            }
            #expect(code == .canceled)
        }
    }

    /// The server does not even refuse: its backlog is full, and the kernel lets the next client wait.
    @Test(arguments: ["git", "http"])
    func testThatAConnectionThatIsNotMadeIsUnreachable(_ scheme: String) async throws {
        try await withTemporaryDirectory { directory in
            let server = try LoopbackSocket()
            defer { server.stop() }
            let callers = (0..<40).compactMap { _ in LoopbackSocket.connected(to: server.port, isWaiting: false) }
            defer { callers.forEach { close($0) } }
            var limits = NetworkLimits()
            limits.connect = .milliseconds(100)
            let url = try RemoteURL("\(scheme)://127.0.0.1:\(server.port)/kit", isInsecureAllowed: true)
            let mirror = Mirrors(directory: directory.path("repositories"), limits: limits).mirror(of: url)
            let start = ContinuousClock.now
            await expectRejection(SourceControlError.self, \.code, .unreachable) { try await mirror.scan() }
            #expect(ContinuousClock.now - start < .seconds(5) * TestLimits.scale)
        }
    }

    @Test(arguments: [
        (GitEngine.automatic, "https", "connect to 127.0.0.1"), (.library, "https", "connect to 127.0.0.1"),
        (.automatic, "git", "Connection refused"),
    ])
    func testThatARefusedConnectionIsUnreachable(_ engine: GitEngine, _ scheme: String, _ words: String) async throws {
        try await withTemporaryDirectory { directory in
            let port = try LoopbackSocket.freePort()
            let url = try RemoteURL("\(scheme)://127.0.0.1:\(port)/kit", isInsecureAllowed: true)
            let mirror = Mirrors(directory: directory.path("repositories"), engine: engine).mirror(of: url)
            let error = await expectRejection(SourceControlError.self, \.code, .unreachable) { try await mirror.scan() }
            expectContains("\(try #require(error))", words)
        }
    }

    @Suite struct GivenInsteadOf {
        @Test(.proves(.sourceControl, "`url.*.insteadOf` is honored"), arguments: ["", "file://"])
        func testThatTheLongestMatchIsUsed(_ prefix: String) async throws {
            try await withOrigin { fixture in
                // given
                let commit = try await fixture.origin.head()
                let file = try fixture.directory.write(
                    "home/.gitconfig",
                    """
                    [url "https://wrong.invalid/"]
                        insteadOf = https://forge.example/
                    [url "\(prefix)\(fixture.directory.path("origin"))/"]
                        insteadOf = https://forge.example/acme/
                    [core]
                        autocrlf = true
                    """)
                let mirrors = Mirrors(
                    directory: fixture.directory.path("others"),
                    configuration: .usual(home: fixture.directory.path("home"), xdgConfigHome: nil))
                let mirror = mirrors.mirror(
                    of: try RemoteURL("https://forge.example/acme/kit", isInsecureAllowed: false))

                // when
                let heads = try await mirror.scan().heads
                try await mirror.fetch(heads)
                _ = try await mirror.checkout(
                    commit, ref: fixture.main, into: fixture.workspace, state: fixture.state)

                // then
                #expect(heads == [fixture.main: commit])
                #expect(try fixture.tree() == ["README": "kit\n"])
                expectContains(file, "home")
            }
        }

        @Test(.proves(.sourceControl, "`url.*.insteadOf` is honored"))
        func testThatItCannotLeadToAnotherWay() async throws {
            try await withTemporaryDirectory { directory in
                try directory.write("home/.gitconfig", "[url \"ext::sh -c \"]\n\tinsteadOf = https://forge.example/\n")
                let mirrors = Mirrors(
                    directory: directory.path("repositories"),
                    configuration: .usual(home: directory.path("home"), xdgConfigHome: nil))
                let mirror = mirrors.mirror(of: try RemoteURL("https://forge.example/kit", isInsecureAllowed: false))
                await expectRejection(SourceControlError.self, \.code, .invalidURL) { try await mirror.scan() }
            }
        }

        @Test func testThatAnUnreadableConfigurationIsNamed() async throws {
            try await withTemporaryDirectory { directory in
                let file = try directory.write("home/.gitconfig", "[url \"x\n")
                let mirrors = Mirrors(
                    directory: directory.path("repositories"),
                    configuration: .usual(home: directory.path("home"), xdgConfigHome: nil))
                let mirror = mirrors.mirror(of: try RemoteURL("https://forge.example/kit", isInsecureAllowed: false))
                let error = await expectRejection(SourceControlError.self, \.code, .file) { try await mirror.scan() }
                expectContains("\(try #require(error))", file)
            }
        }
    }
}
