import Basics
import Model
import SourceControl
import TestSupport
import Testing

/// G11, N1, N2: servers that send something else than a pack, too much, or no more bytes. Nothing of it stays in the mirror. An honest server
/// provides the same commit afterwards.
@Suite struct HostileServerTests {
    static let engines = [GitEngine.library, .program]

    /// Packs that are made from the fixture's honest one.
    enum Fault: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case nothing, page, cut, broken, wrongSum, wrongByte, claimsObjects, claimsSize, missingBase, unknownBase,
            endless, bomb

        var testDescription: String { rawValue }

        func answer(honest: [UInt8], in directory: TemporaryDirectory) async throws -> ScriptedGitServer.Answer {
            switch self {
            case .nothing: return .bytes([])
            case .page: return .bytes(Array("HTTP/1.1 200 OK\r\n\r\n<html>maintenance</html>\n".utf8))
            case .cut: return .bytes(Array(honest.prefix(honest.count / 2)))
            case .broken: return .broken(Array(honest.prefix(honest.count / 2)))
            case .wrongSum: return .bytes(honest.dropLast(20) + [UInt8](repeating: 7, count: 20))
            case .wrongByte:
                var bytes = honest
                bytes[bytes.count / 2] ^= 0x55
                return .bytes(bytes)
            case .claimsObjects: return .bytes(HostilePack(objects: 1 << 31).bytes)
            case .claimsSize:
                var pack = HostilePack(objects: 1)
                pack.add(.blob, size: 1 << 60, compressed: HostilePack.stored([1, 2, 3]))
                return .bytes(try await pack.sealed(in: directory))
            case .missingBase:
                var pack = HostilePack(objects: 1)
                pack.add(.offsetDelta, size: 3, back: 1 << 30, compressed: HostilePack.stored([1, 1, 0x90]))
                return .bytes(try await pack.sealed(in: directory))
            case .unknownBase:
                var pack = HostilePack(objects: 1)
                let base = [UInt8](repeating: 0xaa, count: 20)
                pack.add(.delta, size: 3, base: base, compressed: HostilePack.stored([1, 1, 0x90]))
                return .bytes(try await pack.sealed(in: directory))
            case .endless:
                return .endless(HostilePack(objects: 1 << 20).bytes) { count in
                    var pack = HostilePack()
                    // Each object is different, because a duplicate would be refused for that reason.
                    let content = Array("\(count)".utf8) + [UInt8](repeating: 1, count: 60_000)
                    pack.add(.blob, size: content.count, compressed: HostilePack.stored(content))
                    return pack.bytes
                }
            case .bomb:
                // A quarter of a megabyte that unpacks to a quarter of a gigabyte.
                var pack = HostilePack(objects: 1)
                let size = 1 << 28
                pack.add(.blob, size: size, compressed: try await HostilePack.zeros(size, in: directory))
                return .bytes(try await pack.sealed(in: directory))
            }
        }
    }

    @Test(
        .proves(
            .sourceControl,
            "A server with a missing, cut, damaged, endless or exploding pack leaves nothing, the cause is reported, and an honest server works afterwards (G11, N1, N2, N6)"
        ), .threat("G11"), .threat("N1"), .threat("N2"), arguments: engines, Fault.allCases)
    func testThatNothingOfItStays(_ engine: GitEngine, _ fault: Fault) async throws {
        var limits = NetworkLimits()
        limits.bytes = 8 << 20
        try await withOrigin(["a": String(repeating: "line\n", count: 2000)], limits: limits) { fixture in
            // given
            let commit = try await fixture.origin.head()
            try await fixture.origin.git("repack", "-q", "-a", "-d")
            let packs = try Directory(opening: fixture.origin.path + "/.git/objects/pack")
            let name = try #require(try packs.entries().map(\.name).first { $0.hasSuffix(".pack") })
            let honest = try packs.read(name, limit: 1 << 20)
            let mirrors = Mirrors(
                directory: fixture.directory.path("others"), limits: limits, configuration: GitConfiguration(files: []),
                engine: engine)
            let answer = Locked(try await fault.answer(honest: honest, in: fixture.directory))
            try await ScriptedGitServer.serving(commit, answer) { url in
                let mirror = mirrors.mirror(of: try RemoteURL(url, isInsecureAllowed: true))

                // when
                let heads = try await mirror.scan().heads
                #expect(heads == [fixture.main: commit])
                let error = await #expect(throws: SourceControlError.self) { try await mirror.fetch(heads) }

                // then
                #expect(try await !mirror.contains(commit))
                let left = try Directory(opening: mirror.objects + "/pack").entries().map(\.name)
                // libgit2 takes an object's actual size, whatever its header claims.
                if fault != .bomb, engine == .program || fault != .claimsSize { #expect(left == []) }
                #expect(
                    error?.code
                        == (fault == .endless || fault == .claimsObjects && engine == .program
                            ? .tooLarge : .unreachable))
                answer.withLock { $0 = .bytes(honest) }
                try await mirror.fetch(heads)
                #expect(try await mirror.contains(commit))
            }
        }
    }

    /// N2, for a scan: each fault is reported with its cause, and leaves the mirror as it was.
    @Test(
        .proves(
            .sourceControl,
            "A server with a missing, cut, damaged, endless or exploding pack leaves nothing, the cause is reported, and an honest server works afterwards (G11, N1, N2, N6)"
        ), .threat("N2"), arguments: engines, ["500", "page", "empty", "401 with credentials", "no packet"])
    func testThatAWrongAnswerOverHTTPIsSaid(_ engine: GitEngine, _ fault: String) async throws {
        let service = "HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-advertisement\r\n"
        let closing = "Connection: close\r\n"
        let (answer, code): (String, SourceControlError.Code) =
            switch fault {
            case "500": ("HTTP/1.1 500 Internal Server Error\r\n\(closing)\r\n", .unreachable)
            case "page":
                (
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\(closing)\r\n<html>Sign in</html>\n",
                    .unreachable
                )
            case "empty": ("\(service)\(closing)\r\n", .unreachable)
            case "no packet": ("\(service)\(closing)\r\nzzzzservice\n", .unreachable)
            default: ("HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"x\"\r\n\(closing)\r\n", .credentialsRefused)
            }
        try await withTemporaryDirectory { directory in
            try await ScriptedHTTPServer.serving({ _ in answer }) { server in
                let url = try RemoteURL("http://127.0.0.1:\(server.port)/kit", isInsecureAllowed: true)
                let credentials = fault.hasPrefix("401") ? Credentials(user: "ci", password: "secret") : nil
                let mirror = Mirrors(
                    directory: directory.path("mirrors"), configuration: GitConfiguration(files: []), engine: engine
                ).mirror(of: url, credentials: credentials)
                let error = await expectRejection(SourceControlError.self, \.code, code) { try await mirror.scan() }
                #expect(!"\(try #require(error))".contains("secret"))
            }
        }
    }

    /// N5: before all of it is in memory.
    @Test(
        .proves(
            .sourceControl,
            "What git says is judged by its own words; a silent git that works is not given up; a list without end is"),
        .proves(
            .intake,
            "A server's list of refs may have 64 MiB and 500,000 refs of any kind; a longer one fails the scan with a message"
        ), arguments: engines)
    func testThatAListWithoutEndIsGivenUp(_ engine: GitEngine) async throws {
        var limits = NetworkLimits()
        limits.listBytes = 4 << 20
        try await withOrigin(limits: limits) { fixture in
            let commit = try await fixture.origin.head()
            try await ScriptedGitServer.serving(commit, Locked(.endlessList)) { url in
                let mirror = Mirrors(
                    directory: fixture.directory.path("others"), limits: limits,
                    configuration: GitConfiguration(files: []),
                    engine: engine
                ).mirror(of: try RemoteURL(url, isInsecureAllowed: true))
                let error = await expectRejection(SourceControlError.self, \.code, .tooLarge) {
                    try await mirror.scan()
                }
                expectContains("\(try #require(error))", "the server's list of refs is longer than")
            }
        }
    }

    /// N6.
    @Test(
        .proves(
            .sourceControl,
            "A server with a missing, cut, damaged, endless or exploding pack leaves nothing, the cause is reported, and an honest server works afterwards (G11, N1, N2, N6)"
        ), arguments: engines)
    func testThatAnUnknownHostIsUnreachable(_ engine: GitEngine) async throws {
        try await withTemporaryDirectory { directory in
            // RFC 2606: this name never has a host.
            let url = try RemoteURL("https://git.invalid/kit", isInsecureAllowed: false)
            let mirror = Mirrors(
                directory: directory.path("mirrors"), configuration: GitConfiguration(files: []), engine: engine
            ).mirror(of: url)
            let error = await expectRejection(SourceControlError.self, \.code, .unreachable) { try await mirror.scan() }
            expectContains("\(try #require(error))", "git.invalid")
        }
    }
}
