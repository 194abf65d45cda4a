import Basics
import Model
import SourceControl
import TestSupport
import Testing

/// A fetch connects again if a branch has moved on and its commit did not come with it.
@Suite struct SecondConversationTests {
    private static func serving(
        _ credentials: Credentials? = nil, limits: NetworkLimits = NetworkLimits(),
        _ answer: @escaping @Sendable (_ head: String, _ lists: Int, _ served: HTTPTransportTests.Served) -> [UInt8],
        _ body: (_ mirror: Mirror, _ wanted: [RefName: CommitID], _ server: ScriptedHTTPServer) async throws -> Void
    ) async throws {
        try await withOrigin { fixture in
            let served = try await HTTPTransportTests.Served(fixture)
            let later = try await fixture.origin.commit(files: ["a": "never sent\n"])
            let lists = Locked(0)
            try await ScriptedHTTPServer.serving(bytes: { head in
                let count = lists.withLock { count in
                    if head.hasPrefix("GET ") { count += 1 }
                    return count
                }
                return answer(head, count, served)
            }) { server in
                let url = try RemoteURL("http://127.0.0.1:\(server.port)/kit", isInsecureAllowed: true)
                let mirrors = Mirrors(
                    directory: fixture.directory.path("others"), limits: limits,
                    configuration: GitConfiguration(files: []), engine: .library)
                try await body(mirrors.mirror(of: url, credentials: credentials), [fixture.main: later], server)
            }
        }
    }

    /// N5.
    @Test func testThatAListWithoutEndIsGivenUpThereToo() async throws {
        var limits = NetworkLimits()
        limits.listBytes = 1 << 20
        let line = SmartHTTPAnswer.packet(
            "\(String(repeating: "a", count: 40)) refs/pull/\(String(repeating: "x", count: 900))\n")
        let endless = Array(String(repeating: line, count: 4000).utf8)
        try await Self.serving(limits: limits) { head, lists, served in
            if !head.hasPrefix("GET ") { return served.packAnswer }
            if lists == 1 { return served.listAnswer }
            return SmartHTTPAnswer.answer(
                SmartHTTPAnswer.listType, Array(served.list.dropLast(4)) + endless, length: 1 << 40)
        } _: { mirror, wanted, _ in
            await expectRejection(SourceControlError.self, \.code, .tooLarge) { try await mirror.fetch(wanted) }
        }
    }

    @Test func testThatItHasItsOwnTryOfTheCredentials() async throws {
        let challenge = "HTTP/1.1 401 Who\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n"
        try await Self.serving(Credentials(user: "ci", password: "secret")) { head, _, served in
            guard head.contains("\r\nAuthorization: ") else { return Array(challenge.utf8) }
            return head.hasPrefix("GET ") ? served.listAnswer : served.packAnswer
        } _: { mirror, wanted, server in
            await expectRejection(SourceControlError.self, \.code, .refGone) { try await mirror.fetch(wanted) }
            #expect(server.requests.filter { $0.contains("\r\nAuthorization: ") && $0.hasPrefix("GET ") }.count == 2)
        }
    }
}
