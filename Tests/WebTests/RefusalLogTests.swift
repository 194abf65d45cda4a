import Model
import TestSupport
import Testing

@testable import Web

@Suite struct RefusalLogTests {
    @Test(.proves(.operating, "Refused tokens and signatures have a line in the log, at most one each in ten seconds"))
    func testThatManyRefusalsHaveFewLines() throws {
        // given
        let (log, now) = (RecordingLogger(), Locked(WebFixture.now))
        let refusals = RefusalLog(logger: log.logger) { now.value }
        // when
        for _ in 0..<100 { refusals.note(.token, path: "/", from: IPAddress("192.0.2.7")) }
        refusals.note(.signature, path: "/webhooks/push/kit", from: nil)
        now.withLock { $0 = $0 + RefusalLog.interval }
        refusals.note(.token, path: "/", from: nil)
        // then
        #expect(
            log.lines.map(\.message) == [
                "a token was refused", "a delivery was refused for its signature", "a token was refused",
            ])
        #expect(log.lines[0].metadata["from"] == "192.0.2.7")
        #expect(log.lines[2].metadata["others since the last line"] == "99")
    }

    @Test func testThatAServiceLogsARefusedTokenAndSignature() async throws {
        try await withWeb(proxies: ["127.0.0.1"]) { web in
            // when
            let from = ("X-Forwarded-For", "198.51.100.4")
            try await web.expect(401, "GET", "/api/v1/bots", headers: [("Authorization", "Bearer nonsense"), from])
            try await web.expect(401, "POST", "/webhooks/push/kit", headers: [from], body: Array("{}".utf8))
            // then
            expectContains(web.logText, "a token was refused from=198.51.100.4 path=/api/v1/bots")
            expectContains(
                web.logText, "a delivery was refused for its signature from=198.51.100.4 path=/webhooks/push/kit")
        }
    }
}
