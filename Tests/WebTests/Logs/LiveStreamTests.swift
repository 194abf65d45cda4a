import Model
import Storage
import TestSupport
import Testing
import Transfer

@testable import Web

/// The one event stream of a browser.
@Suite struct LiveStreamTests {
    private func stream(_ web: WebFixture, _ query: String, _ transport: CurlTransport) async throws -> TransferStream {
        var request = TransferRequest(.get, "http://127.0.0.1:\(web.port)/live/events\(query)")
        request.isPlainHTTPAllowed = true
        return try await transport.stream(request)
    }

    private func read(_ stream: TransferStream, _ text: inout String, until wanted: String) async throws {
        if text.contains(wanted) { return }
        for try await bytes in stream.body {
            text += String(decoding: bytes, as: UTF8.self)
            if text.contains(wanted) { return }
        }
    }

    @Test(.proves(.web, "One event stream for all tabs of a browser: seven tabs over HTTP/1.1 all load"))
    func testThatOneStreamHasTheChangesAndTheGrowthOfLogs() async throws {
        try await withWeb(looksAtLogs: .milliseconds(1)) { web in
            // given
            let (job, transport) = (try await LogEventsTests.Running(web), try CurlTransport())
            let stream = try await stream(web, "?log=kit%2F1%2Fdebug%2F1&log=kit/9/none/1&log=../..&log=", transport)
            #expect(stream.status == 200)
            #expect(stream.headers["X-Accel-Buffering"] == "no")
            var text = ""
            try await read(stream, &text, until: "retry: 3000")
            // when
            let writing = Task { @Sendable in
                // The size that was there when the stream began is no growth, so something is printed until it is told.
                for _ in 0..<10_000 where !Task.isCancelled {
                    job.print("line\n")
                    try await Task.sleep(for: .milliseconds(1))
                }
            }
            try await read(stream, &text, until: "event: log")
            writing.cancel()
            try await web.store.apply(.entered(.testing), to: job.id, at: WebFixture.now)
            try await read(stream, &text, until: "event: integration")
            // then
            expectContains(text, "event: log\ndata: {\"log\":\"kit/1/debug/1\",\"size\":")
            expectContains(text, "data: {\"bot\":\"kit\",\"number\":1}")
            _ = await writing.result
        }
    }

    @Test func testThatTheWorkerMayReadEventsAndNothingElse() async throws {
        try await withWeb { web in
            let answer = try await web.send("GET", "/stream.js")
            #expect(answer.status == 200)
            #expect(
                answer["Content-Security-Policy"] == "default-src 'none'; connect-src 'self'; frame-ancestors 'none'")
        }
    }
}
