import Model
import TestSupport
import Testing

@testable import Web

/// Streams that a page of another site opens.
@Suite struct A04StreamOriginTests {
    private static let streams = ["/api/v1/events", "/live/events", "/api/v1/bots/kit/integrations/1/log/debug/events"]

    @Test(arguments: streams, ["https://attacker.example", "null", "http://127.0.0.1:1", "https://ci.example"])
    func testA4ThatAForeignOriginOpensNoStream(_ path: String, _ origin: String) async throws {
        try await withWeb { web in
            let job = try await LogEventsTests.Running(web)
            job.print("secret of the build\n")
            for role in [nil, Role.viewer, .admin] {
                let answer = try await web.send("GET", path, as: role, headers: [("Origin", origin)])
                #expect(answer.status == 403, "\(answer.text)")
                #expect(!answer.text.contains("secret") && !answer.text.contains("retry:"))
            }
        }
    }

    @Test func testA4ThatItsOwnOriginAndClientsWithoutOneMayListen() async throws {
        try await withWeb { web in
            let job = try await LogEventsTests.Running(web)
            job.print("before\n")
            for path in Self.streams {
                for origin in ["", "Origin: http://127.0.0.1\r\n", "Origin: http://ci.example\r\n"] {
                    let answer = try await RawAnswer.exchange(
                        "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\(origin)\r\n", port: web.port, waitsForEnd: false)
                    #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(path) \(origin): \(answer)")
                }
            }
        }
    }

    @Test func testA4ThatThereIsNoWebSocket() async throws {
        try await withWeb { web in
            for path in Self.streams + ["/", "/ws", "/socket", "/health"] {
                let answer = try await RawAnswer.exchange(
                    "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: https://attacker.example\r\nConnection: Upgrade\r\n"
                        + "Upgrade: websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n",
                    port: web.port, waitsForEnd: false)
                #expect(answer.hasPrefix("HTTP/1.1 ") && !answer.hasPrefix("HTTP/1.1 101"), "\(path): \(answer)")
                #expect(!answer.lowercased().contains("sec-websocket-accept"))
            }
        }
    }
}
