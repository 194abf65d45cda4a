import Basics
import Glibc
import Model
import TestSupport
import Testing

@testable import SourceControl

/// libgit2 over libcurl, with servers that send exactly the given bytes.
@Suite struct HTTPTransportTests {
    /// A repository and its pack, in a server's format.
    struct Served: Sendable {
        let commit: CommitID
        let list: [UInt8]
        let pack: [UInt8]

        init(_ fixture: Fixture) async throws {
            commit = try await fixture.origin.head()
            list = SmartHTTPAnswer.list(commit)
            try await fixture.origin.git("repack", "-q", "-a", "-d")
            let packs = try Directory(opening: fixture.origin.path + "/.git/objects/pack")
            let name = try #require(try packs.entries().map(\.name).first { $0.hasSuffix(".pack") })
            pack = SmartHTTPAnswer.pack(try packs.read(name, limit: 1 << 20))
        }

        var listAnswer: [UInt8] { SmartHTTPAnswer.answer(SmartHTTPAnswer.listType, list) }
        var packAnswer: [UInt8] { SmartHTTPAnswer.answer(SmartHTTPAnswer.packType, pack) }
    }

    static func mirror(
        _ server: ScriptedHTTPServer, in directory: TemporaryDirectory, _ credentials: Credentials? = nil,
        user: String = ""
    ) throws -> Mirror {
        try SmartHTTPTests.mirror("http://\(user)127.0.0.1:\(server.port)/kit/", .library, in: directory, credentials)
    }

    @Test(
        .proves(
            .sourceControl,
            "http and https need no git: libgit2 uses libcurl with our sockets, credentials and limits. A redirect ends the look, not the daemon (G3)"
        ))
    func testThatAllRequestsShareAConnection() async throws {
        try await withOrigin { fixture in
            let served = try await Served(fixture)
            try await ScriptedHTTPServer.serving(
                isLasting: true,
                bytes: {
                    $0.hasPrefix("GET ") ? served.listAnswer : served.packAnswer
                }
            ) { server in
                // when
                let mirror = try Self.mirror(server, in: fixture.directory)
                try await mirror.fetch([fixture.main: served.commit])

                // then
                #expect(try await mirror.contains(served.commit))
                #expect(server.connections == 1)
                let (list, pack) = try #require(
                    server.requests.count == 2 ? (server.requests[0], server.requests[1]) : nil)
                #expect(list.hasPrefix("GET /kit/info/refs?service=git-upload-pack HTTP/1.1\r\n"))
                #expect(list.contains("\r\nUser-Agent: git/2.0 (libgit2 "))
                #expect(pack.hasPrefix("POST /kit/git-upload-pack HTTP/1.1\r\n"))
                #expect(pack.contains("\r\nContent-Type: application/x-git-upload-pack-request\r\n"))
                #expect(pack.contains("\r\nAccept: application/x-git-upload-pack-result\r\n"))
                let both = (list + pack).lowercased()
                #expect(
                    ["expect:", "cookie:", "accept-encoding:", "authorization:", "referer:"].allSatisfy {
                        !both.contains($0)
                    })
            }
        }
    }

    /// A second answer without a request is not taken for the answer to the next request.
    @Test(
        .proves(
            .sourceControl,
            "A wrong answer over http is reported and traps nothing. A pack of any size takes 256 KiB of memory, and the server is not given up while libgit2 works"
        ))
    func testThatAnAnswerInAdvanceIsNoAnswer() async throws {
        try await withOrigin { fixture in
            let served = try await Served(fixture)
            try await ScriptedHTTPServer.serving(
                isLasting: true,
                bytes: {
                    $0.hasPrefix("GET ")
                        ? served.listAnswer + served.packAnswer
                        : Array("HTTP/1.1 503 Later\r\nContent-Length: 0\r\n\r\n".utf8)
                }
            ) { server in
                let mirror = try Self.mirror(server, in: fixture.directory)
                let error = await expectRejection(SourceControlError.self, \.code, .unreachable) {
                    try await mirror.fetch([fixture.main: served.commit])
                }
                expectContains("\(try #require(error))", "503")
                #expect(server.requests.count == 2)
                #expect(try await !mirror.contains(served.commit))
            }
        }
    }

    @Test(
        .proves(
            .sourceControl,
            "http and https need no git: libgit2 uses libcurl with our sockets, credentials and limits. A redirect ends the look, not the daemon (G3)"
        ))
    func testThatAServerMayAskWhoWeAreAtTheSecondRequest() async throws {
        try await withOrigin { fixture in
            let served = try await Served(fixture)
            // The page is longer than the part that is read.
            let page = String(repeating: "x", count: 4 * HTTPStream.maximumIgnored)
            let challenge =
                "HTTP/1.1 401 Who\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: \(page.utf8.count)\r\n\r\n\(page)"
            try await ScriptedHTTPServer.serving(bytes: {
                $0.hasPrefix("GET ")
                    ? served.listAnswer : $0.contains("\r\nAuthorization: ") ? served.packAnswer : Array(challenge.utf8)
            }) { server in
                let mirror = try Self.mirror(
                    server, in: fixture.directory, Credentials(user: "other", password: "secret"), user: "ci@")
                try await mirror.fetch([fixture.main: served.commit])
                #expect(try await mirror.contains(served.commit))
                let asked = server.requests.map { $0.contains("\r\nAuthorization: Basic Y2k6c2VjcmV0\r\n") }
                #expect(asked == [false, false, true])
            }
        }
    }

    @Test(
        .proves(
            .sourceControl,
            "A wrong answer over http is reported and traps nothing. A pack of any size takes 256 KiB of memory, and the server is not given up while libgit2 works"
        ))
    func testThatAPackThatEndsInTheMiddleIsNotKept() async throws {
        try await withOrigin { fixture in
            let served = try await Served(fixture)
            let half = Array(served.pack.prefix(served.pack.count / 2))
            try await ScriptedHTTPServer.serving(bytes: {
                $0.hasPrefix("GET ")
                    ? served.listAnswer
                    : SmartHTTPAnswer.answer(SmartHTTPAnswer.packType, half, length: served.pack.count)
            }) { server in
                let mirror = try Self.mirror(server, in: fixture.directory)
                await expectRejection(SourceControlError.self, \.code, .unreachable) {
                    try await mirror.fetch([fixture.main: served.commit])
                }
                #expect(try await !mirror.contains(served.commit))
                #expect(try Directory(opening: mirror.objects + "/pack").entries().map(\.name) == [])
            }
        }
    }

    @Test(
        .proves(
            .sourceControl,
            "http and https need no git: libgit2 uses libcurl with our sockets, credentials and limits. A redirect ends the look, not the daemon (G3)"
        ))
    func testThatCertificatesThatCannotBeReadAreNamed() async throws {
        try await withTemporaryDirectory { directory in
            let server = try LoopbackSocket()
            defer { server.stop() }
            let (root, url) = (directory.path, "https://127.0.0.1:\(server.port)/kit")
            await #expect(processExitsWith: .success) { [root = root as String, url = url as String] in
                setenv("SSL_CERT_FILE", root + "/nowhere.pem", 1)
                let mirror = Mirrors(directory: root + "/mirrors", engine: .library)
                    .mirror(of: try RemoteURL(url, isInsecureAllowed: false))
                let error = await expectRejection(SourceControlError.self, \.code, .file) { try await mirror.scan() }
                expectContains("\(try #require(error))", "/nowhere.pem, which SSL_CERT_FILE, ")
            }
        }
    }
}
