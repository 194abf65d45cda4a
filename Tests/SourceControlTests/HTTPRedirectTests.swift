import Basics
import Glibc
import Model
import TestSupport
import Testing

@testable import SourceControl

/// G3: another address that a server names is not requested, and nothing ends the daemon. The http code of libgit2 1.5.1 reads a null pointer if
/// the address has no query.
@Suite(
    .proves(
        .sourceControl,
        "http and https need no git: libgit2 uses libcurl with our sockets, credentials and limits. A redirect ends the look, not the daemon (G3)"
    ), .threat("G3"))
struct HTTPRedirectTests {
    enum Target: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case query, noQuery, relative, otherPath, otherHost, otherPort, https, account, empty, none, rubbish

        var testDescription: String { rawValue }

        func lines(_ port: Int, other: Int) -> String {
            let service = "/info/refs?service=git-upload-pack"
            return switch self {
            case .query: "Location: http://127.0.0.1:\(port)/new\(service)\r\n"
            case .noQuery: "Location: http://127.0.0.1:\(port)/new/info/refs\r\n"
            case .relative: "Location: /new/info/refs\r\n"
            case .otherPath: "Location: new\r\n"
            case .otherHost: "Location: http://localhost:\(other)/kit\(service)\r\n"
            case .otherPort: "Location: http://127.0.0.1:\(other)/kit\(service)\r\n"
            case .https: "Location: https://127.0.0.1:\(other)/kit\(service)\r\n"
            case .account: "Location: http://ada:s3cret@127.0.0.1:\(port)/new/info/refs?token=s3cret\r\n"
            case .empty: "Location:\r\n"
            case .none: ""
            case .rubbish: "Location: \u{1b}[2J:///@@[::?\r\n"
            }
        }
    }

    @Test(arguments: SmartHTTPTests.engines, Target.allCases)
    func testThatItIsNotFollowed(_ engine: GitEngine, _ target: Target) async throws {
        try await withTemporaryDirectory { directory in
            // given
            try await ScriptedHTTPServer.serving({ _ in "" }) { other in
                let port = Locked(0)
                try await ScriptedHTTPServer.serving({ _ in
                    "HTTP/1.1 301 Moved Permanently\r\n\(target.lines(port.value, other: other.port))"
                        + "Content-Length: 0\r\nConnection: close\r\n\r\n"
                }) { server in
                    port.withLock { $0 = server.port }
                    let mirror = try SmartHTTPTests.mirror(
                        "http://127.0.0.1:\(server.port)/kit", engine, in: directory,
                        Credentials(user: "ci", password: "pass-word"))

                    // when
                    let error = await expectRejection(SourceControlError.self, \.code, .redirected) {
                        try await mirror.scan()
                    }

                    // then
                    let text = "\(try #require(error))"
                    expectContains(text, "301")
                    #expect(!text.contains("s3cret") && !text.contains("pass-word"))
                    if engine == .library, target == .noQuery { expectContains(text, "127.0.0.1:\(server.port)/new)") }
                    #expect(server.requests.count == 1)
                    #expect(server.requests.allSatisfy { !$0.lowercased().contains("authorization") })
                    #expect(other.requests.isEmpty)
                }
            }
        }
    }

    @Test(arguments: SmartHTTPTests.engines, [300, 302, 303, 304, 307, 308])
    func testThatItIsSaidWhateverItsKind(_ engine: GitEngine, _ status: Int) async throws {
        try await withTemporaryDirectory { directory in
            let answer =
                "HTTP/1.1 \(status) Moved\r\nLocation: /new/info/refs\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            try await ScriptedHTTPServer.serving({ _ in answer }) { server in
                let mirror = try SmartHTTPTests.mirror("http://127.0.0.1:\(server.port)/kit", engine, in: directory)
                await expectRejection(SourceControlError.self, \.code, .redirected) { try await mirror.scan() }
                #expect(server.requests.count == 1)
            }
        }
    }
}
