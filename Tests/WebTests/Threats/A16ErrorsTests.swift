import Basics
import GRDB
import Glibc
import Model
import TestSupport
import Testing

@testable import Web

/// The texts of errors, and their cost.
@Suite struct A16ErrorsTests {
    private static func series(_ web: WebFixture) async throws -> Int {
        try await web.json("/metrics").split(separator: "\n").filter { !$0.hasPrefix("#") }.count
    }

    /// Requests many paths on one connection, a thousand at a time.
    private static func ask(_ paths: [String], _ port: Int) async throws -> Int {
        var answered = 0
        for start in stride(from: 0, to: paths.count, by: 1000) {
            let part = paths[start..<min(start + 1000, paths.count)]
            let requests = part.dropLast().map { "GET \($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined()
            let last = part.last.map { "GET \($0) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" } ?? ""
            answered += try await RawAnswer.exchange(requests + last, port: port).pieces("HTTP/1.1 404").count - 1
        }
        return answered
    }

    @Test func testA16ThatRandomPathsMakeNoSeries() async throws {
        try await withWeb { web in
            // given: one of each kind was requested
            _ = try await Self.ask(["/none", "/bots/none", "/api/v1/none", "/files/none/1.0.0/f"], web.port)
            let before = try await Self.series(web)
            var random = SystemRandomNumberGenerator()
            let paths = (0..<5000).map { number in
                ["/\(random.next())", "/bots/b\(number)x", "/api/v1/\(random.next())/x", "/files/p\(number)/1.0.0/f"][
                    number % 4]
            }
            // when
            #expect(try await Self.ask(paths, web.port) == paths.count)
            // then
            #expect(try await Self.series(web) == before)
            let text = try await web.json("/metrics")
            #expect(!text.contains("b5x") && !text.contains("p7/"))
        }
    }

    private static let telling = [
        "/tmp/", "/state", ".sqlite", "SELECT", "sqlite", "GRDB", "SwiftNIO", "Hummingbird", "Swift/", ".swift",
        "line ", "errno", "0x",
    ]

    @Test func testA16ThatAnErrorTellsNothingOfTheMachine() async throws {
        try await withWeb { web in
            try await SampleContent(web: web).fill()
            let json = [("Content-Type", "application/json")]
            let asked: [(String, String, [UInt8])] = [
                ("GET", "/none", []), ("GET", "/bots/none", []), ("PUT", "/api/v1/bots", []),
                ("POST", "/api/v1/tokens", Array("{".utf8)),
                ("GET", "/api/v1/bots/kit/integrations/999", []), ("GET", "/api/v1/bots/kit/integrations?limit=x", []),
                ("GET", "/files/kit/9.9.9/x", []),
                ("POST", "/api/v1/bots/kit/integrations", Array(#"{"ref":"none"}"#.utf8)),
                ("POST", "/webhooks/github/kit", []),
                ("GET", "/api/v1/bots/kit/integrations/1/log/none", []), ("GET", "/registry/a/b", []),
                ("DELETE", "/api/v1/tokens/none", []),
            ]
            for (method, path, body) in asked {
                for accept in ["application/json", "text/html"] {
                    let answer = try await web.send(
                        method, path, as: .admin, headers: json + [("Accept", accept)], body: body)
                    #expect(answer.status >= 400, "\(method) \(path)")
                    #expect(answer["Server"] == nil)
                    let text = answer.headers.map { "\($0.name): \($0.value)" }.joined(separator: "\n") + answer.text
                    for word in Self.telling where !(accept == "text/html" && ["line ", "0x"].contains(word)) {
                        #expect(!text.contains(word), "\(method) \(path): \(word) in \(text)")
                    }
                    #expect(!text.contains(web.directory.path("")), "\(method) \(path)")
                }
            }
        }
    }

    /// With a damaged database the caller learns that the service failed, and the log has the cause.
    @Test func testA16ThatAFailureOfOursIsOneSentence() async throws {
        try await withWeb { web in
            // given
            try await SampleContent(web: web).fill()
            web.log.expectErrors(containing: "cause")
            let other = try DatabaseQueue(path: web.state + "/martlet.sqlite")
            try await other.write { try $0.execute(sql: "UPDATE integrations SET cause = 'moon'") }
            try other.close()
            // when
            let answer = try await web.send("GET", "/api/v1/bots/kit/integrations/1")
            // then
            #expect(answer.status == 500)
            expectContains(answer.text, "\"detail\":\"The service failed; its log has the cause.\"")
            #expect(
                !answer.text.contains("cause of") && !answer.text.contains("moon") && !answer.text.contains("column"))
            expectContains(web.logText, "the column cause of integrations")
        }
    }
}
