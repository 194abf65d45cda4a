import Basics
import CLibGit2
import Glibc
import Model
import Synchronization
import TestSupport
import Testing

@testable import SourceControl

/// libgit2 over libcurl, with servers of which each byte is ours.
@Suite struct HTTPTransportTests {
    /// A repository and its pack, as a server would send it.
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

    @Test func testThatAllRequestsShareAConnection() async throws {
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

    /// A second answer that nobody asked for is not taken for the next request's.
    @Test func testThatAnAnswerInAdvanceIsNoAnswer() async throws {
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

    @Test func testThatAServerMayAskWhoWeAreAtTheSecondRequest() async throws {
        try await withOrigin { fixture in
            let served = try await Served(fixture)
            // A page that is longer than what is taken of one.
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

    @Test func testThatAPackThatEndsInTheMiddleIsNotKept() async throws {
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

    enum Fault: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case cutList, cutHead, cutChunk, wrongChunk, longField, manyFields, announcements, gzip, gzipTransfer, otherType
        case noType, negativeLength, hugeLength, otherProtocol, oldProtocol, noStatus, zero

        var testDescription: String { rawValue }

        func bytes(_ list: [UInt8]) -> [UInt8] {
            let type = "Content-Type: \(SmartHTTPAnswer.listType)\r\n"
            func text(_ head: String) -> [UInt8] { Array("HTTP/1.1 200 OK\r\n\(type)\(head)\r\n".utf8) }
            // The header of gzip (RFC 1952), and nothing that could be unpacked.
            let gzip: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xff, 0xff]
            return switch self {
            case .cutList: SmartHTTPAnswer.answer(SmartHTTPAnswer.listType, list.dropLast(10), length: list.count)
            case .cutHead: Array("HTTP/1.1 200 OK\r\n\(type)Content-Len".utf8)
            case .cutChunk: text("Transfer-Encoding: chunked\r\n") + Array("ffff\r\n".utf8) + list.dropLast(10)
            case .wrongChunk: text("Transfer-Encoding: chunked\r\n") + Array("-zz\r\n".utf8) + list
            case .longField: text("X: \(String(repeating: "x", count: 1 << 20))\r\n") + list
            case .manyFields: text(String(repeating: "X: y\r\n", count: 100_000)) + list
            case .announcements:
                Array(String(repeating: "HTTP/1.1 102 Processing\r\nX: y\r\n\r\n", count: 100_000).utf8) + text("")
                    + list
            case .gzip: text("Content-Encoding: gzip\r\n") + gzip
            case .gzipTransfer:
                text("Transfer-Encoding: gzip, chunked\r\n") + Array("c\r\n".utf8) + gzip + Array("\r\n0\r\n\r\n".utf8)
            case .otherType: SmartHTTPAnswer.answer(SmartHTTPAnswer.packType, list)
            case .noType: Array("HTTP/1.1 200 OK\r\n\r\n".utf8) + list
            case .negativeLength: text("Content-Length: -5\r\n") + list.dropLast(10)
            case .hugeLength: text("Content-Length: 99999999999999999999999\r\n") + list.dropLast(10)
            case .otherProtocol: Array("HTTP/2 200 OK\r\n\(type)\r\n".utf8) + list.dropLast(10)
            case .oldProtocol: list
            case .noStatus: Array("HTTP/1.1 OK\r\n\(type)\r\n".utf8) + list
            case .zero: text("X: \0\r\nY\0: z\r\n") + list.dropLast(10)
            }
        }
    }

    /// Each has a cause that is not the repository's absence, nor a word of the server that sounds like one.
    @Test(arguments: Fault.allCases)
    func testThatAWrongAnswerIsUnreachable(_ fault: Fault) async throws {
        try await withTemporaryDirectory { directory in
            let list = SmartHTTPAnswer.list(try #require(CommitID("00000000000000000000000000000000000000aa")))
            let bytes = fault.bytes(list)
            try await ScriptedHTTPServer.serving(bytes: { _ in bytes }) { server in
                let mirror = try Self.mirror(server, in: directory, Credentials(user: "ci", password: "secret"))
                let error = await expectRejection(SourceControlError.self, \.code, .unreachable) {
                    try await mirror.look()
                }
                #expect(!"\(try #require(error))".contains("secret"))
                #expect(server.requests.allSatisfy { !$0.contains("Authorization") })
            }
        }
    }

    /// N5.
    @Test func testThatAListWithoutEndIsGivenUp() async throws {
        try await withTemporaryDirectory { directory in
            var limits = NetworkLimits()
            limits.listBytes = 1 << 20
            let commit = try #require(CommitID("00000000000000000000000000000000000000aa"))
            let line = SmartHTTPAnswer.packet("\(commit) refs/pull/\(String(repeating: "x", count: 900))\n")
            let list = SmartHTTPAnswer.list(commit).dropLast(4) + Array(String(repeating: line, count: 4000).utf8)
            let answer = SmartHTTPAnswer.answer(SmartHTTPAnswer.listType, Array(list), length: 1 << 40)
            try await ScriptedHTTPServer.serving(bytes: { _ in answer }) { server in
                let mirror = Mirrors(directory: directory.path("mirrors"), limits: limits, engine: .library).mirror(
                    of: try RemoteURL("http://127.0.0.1:\(server.port)/kit", isInsecureAllowed: true))
                await expectRejection(SourceControlError.self, \.code, .tooLarge) { try await mirror.look() }
            }
        }
    }

    /// A pack of any size is read in a few hundred kilobytes of memory, however fast it comes.
    @Test func testThatWhatIsNotReadYetStaysWithTheServer() async throws {
        let body = [UInt8](repeating: 7, count: 16 << 20)
        let answer = SmartHTTPAnswer.answer(SmartHTTPAnswer.listType, body)
        try await ScriptedHTTPServer.serving(bytes: { _ in answer }) { server in
            let url = "http://127.0.0.1:\(server.port)/kit"
            let (count, most) = try await BlockingLane(label: "test").run { () throws -> (Int, Int) in
                let control = NetworkControl(limits: NetworkLimits())
                let owner = UnsafeMutablePointer<git_transport>.allocate(capacity: 1)
                defer { owner.deallocate() }
                let parent = try #require(HTTPSubtransport(owner: owner, control: control))
                let stream = HTTPStream(try HTTPRequest(url, GIT_SERVICE_UPLOADPACK_LS), by: parent)
                defer { stream.end() }
                control.endList()
                var space = [UInt8](repeating: 0, count: 65_536)
                var (count, most) = (0, 0)
                while true {
                    let now = try space.withUnsafeMutableBytes { try stream.read(into: $0) }
                    if now == 0 { return (count, most) }
                    count += now
                    most = max(most, stream.unread)
                }
            }
            #expect(count == body.count)
            #expect(most < HTTPStream.maximumPending + 65_536)
        }
    }
}
