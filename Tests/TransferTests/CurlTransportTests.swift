import Encodings
import Foundation
import TestSupport
import Testing

@testable import Transfer

/// Features of libcurl that no fake needs: connections, TLS, redirects, time limits.
@Suite(.enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/python3"), "there is no /usr/bin/python3"))
struct CurlTransportTests {
    private func withServer(
        isTLS: Bool = false, isSocket: Bool = false, _ body: (PythonServer, CurlTransport) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            try await PythonServer.running(in: directory, isTLS: isTLS, isSocket: isSocket) { server in
                try await body(server, CurlTransport())
            }
        }
    }

    private func get(_ url: String) -> TransferRequest {
        var request = TransferRequest(.get, url)
        request.isPlainHTTPAllowed = true
        return request
    }

    // MARK: Who is on the other side

    @Test(
        .proves(
            .transfer,
            "A transfer by ftps goes on within a second on a busy machine, whatever event libcurl misses; an idle engine sleeps"
        ))
    func testThatTheEngineLooksEachSecondWhileATransferRuns() {
        #expect(CurlEngine.wait(transfers: 0) == 60_000)
        #expect(CurlEngine.wait(transfers: 1) == 1000)
    }

    @Test(
        .proves(
            .transfer,
            "A server with an expired, early, self-signed or foreign certificate, or with TLS below 1.2, gets nothing (T3)"
        ))
    func testThatItRefusesACertificateItDoesNotKnow() async throws {
        try await withServer(isTLS: true) { server, transport in
            // given
            let request = TransferRequest(.get, server.origin + "/headers")
            var trusting = request
            trusting.certificateAuthorities = server.directory.path("certificate.pem")
            var otherName = trusting
            otherName.url = request.url.replacing("127.0.0.1", with: "localhost")

            // when
            let error = await expectRejection(TransferError.self, \.code, .certificate) {
                try await transport.perform(request)
            }

            // then
            expectContains(error?.message ?? "", "not trusted")
            await expectRejection(TransferError.self, \.code, .certificate) { try await transport.perform(otherName) }
            let answer = try await transport.perform(trusting)
            #expect(answer.status == 200)
        }
    }

    @Test(arguments: ["https://127.0.0.1:1/", "http://elsewhere.example/", "file:///etc/passwd"])
    func testThatItFollowsNoRedirect(target: String) async throws {
        try await withServer { server, transport in
            var request = get(server.origin + "/redirect?to=" + PercentEncoding.encode(target))
            request.credentials = .password(user: "ci", password: "secret")
            let answer = try await transport.perform(request)
            #expect(answer.status == 302)
            #expect(answer.headers["location"] == target)
            #expect(try server.requests().count == 1)
        }
    }

    @Test func testThatItSendsCredentialsAndReportsARefusal() async throws {
        try await withServer { server, transport in
            var request = get(server.origin + "/private/a")
            var statuses: [Int] = []
            for credentials: TransferCredentials? in [
                nil, .password(user: "ci", password: "wrong"), .password(user: "ci", password: "secret"),
                .bearer(token: "token1"),
            ] {
                request.credentials = credentials
                statuses.append(try await transport.perform(request).status)
            }
            #expect(statuses == [401, 401, 404, 404])
        }
    }

    /// libcurl waits one second for a server that does not send `100 Continue`.
    @Test(
        .proves(.transfer, "A small body goes out at once, without waiting for `100 Continue`"),
        arguments: [(15, false), (2 << 20, true)])
    func testThatNoServerIsAskedWhetherASmallBodyIsWelcome(size: Int, isAsked: Bool) async throws {
        try await withServer { server, transport in
            // given
            var request = TransferRequest(.post, server.origin + "/headers")
            request.isPlainHTTPAllowed = true
            request.body = .bytes([UInt8](repeating: 0x78, count: size))
            // when
            let answer = try await transport.perform(request)
            // then
            #expect(answer.status == 200)
            #expect(String(decoding: answer.body, as: UTF8.self).contains("Expect: 100-continue") == isAsked)
        }
    }

    @Test func testThatItIgnoresProxiesOfTheEnvironment() async {
        // In a separate process: changing the environment while other tests run is a race.
        await #expect(processExitsWith: .success) {
            // given: no server listens there, so using a proxy fails.
            for name in ["http_proxy", "HTTPS_PROXY", "ALL_PROXY"] { setenv(name, "http://127.0.0.1:1", 1) }
            try await CurlTransportTests().withServer { server, transport in
                // when
                let answer = try await transport.perform(CurlTransportTests().get(server.origin + "/headers"))

                // then
                #expect(answer.status == 200)
            }
        }
    }

    @Test func testThatItSpeaksToAUnixSocket() async throws {
        try await withServer(isSocket: true) { server, transport in
            var request = TransferRequest(.put, "http://martlet/kit/a", body: .bytes([1, 2]))
            request.unixSocket = server.socket
            let stored = try await transport.perform(request)
            request.method = .get
            let answer = try await transport.perform(request)
            #expect(stored.status == 201)
            #expect(answer.body == [1, 2])
            request.unixSocket = server.directory.path("nothing")
            await expectRejection(TransferError.self, \.code, .unreachable) { try await transport.perform(request) }
        }
    }

    @Test func testThatItSaysWhenNothingListens() async throws {
        let transport = try CurlTransport()
        let port = try LoopbackSocket.freePort()
        let error = await expectRejection(TransferError.self, \.code, .unreachable) {
            try await transport.perform(get("http://user:canary-secret@127.0.0.1:\(port)/a?token=canary-secret"))
        }
        expectContains(error?.description ?? "", "GET http://127.0.0.1:\(port)/a failed:")
        #expect(error?.description.contains("canary-secret") == false)
    }

    // MARK: Limits

    @Test func testThatAStalledAnswerTimesOut() async throws {
        try await withServer { server, transport in
            var request = get(server.origin + "/stall")
            request.limits.total = .milliseconds(300)
            await expectRejection(TransferError.self, \.code, .timedOut) { try await transport.perform(request) }
            request.limits = TransferLimits(total: nil, stall: .seconds(1))
            await expectRejection(TransferError.self, \.code, .timedOut) { try await transport.perform(request) }
        }
    }

    @Test(
        .proves(
            .notices,
            "2xx takes a webhook, whatever comes after the head; a body that is not taken holds its branch up for an hour"
        ))
    func testThatWhereTheHeadIsTheAnswerTheBodyChangesNothing() async throws {
        try await withServer { server, transport in
            for path in ["/zeros?n=300000", "/stall", "/cut"] {
                var request = get(server.origin + path)
                request.destination = .head
                request.limits.response = 64 << 10
                request.limits.total =
                    path == "/stall" ? .milliseconds(TestLimits.passing(milliseconds: 300)) : .seconds(60)
                let answer = try await transport.perform(request)
                #expect(answer.status == 200 && answer.body.isEmpty, "\(path)")
            }
            let nowhere = try LoopbackSocket.freePort()
            await expectRejection(TransferError.self, \.code, .unreachable) {
                var request = get("http://127.0.0.1:\(nowhere)/")
                request.destination = .head
                return try await transport.perform(request)
            }
        }
    }

    @Test func testThatACutAnswerIsAnError() async throws {
        try await withServer { server, transport in
            await expectRejection(TransferError.self, \.code, .interrupted) {
                try await transport.perform(get(server.origin + "/cut"))
            }
        }
    }

    @Test func testThatHeadersHaveALimit() async throws {
        try await withServer { server, transport in
            await expectRejection(TransferError.self, \.code, .tooLarge) {
                try await transport.perform(get(server.origin + "/hugeheader"))
            }
        }
    }

    // MARK: Canceling and streams

    @Test(.proves(.transfer, "One `Transport`, over libcurl's multi interface"))
    func testThatCancelingEndsATransferUnderWay() async throws {
        try await withServer { server, transport in
            // given
            let request = get(server.origin + "/stall")
            let task = Task { try await transport.perform(request) }
            try await until("the request's arrival") { try server.requests().count == 1 }

            // when
            task.cancel()

            // then
            await expectRejection(TransferError.self, \.code, .canceled) { try await task.value }
        }
    }

    @Test func testThatDroppingTheTransportEndsItsTransfers() async throws {
        try await withServer { server, _ in
            // given
            var transport: CurlTransport? = try CurlTransport()
            var request = get(server.origin + "/stall")
            request.limits = TransferLimits(total: nil, stall: nil)
            let stream = try await transport?.stream(request)

            // when
            transport = nil

            // then
            await expectRejection(TransferError.self, \.code, .canceled) {
                for try await _ in try #require(stream).body {}
            }
        }
    }

    @Test func testThatAStreamGivesBytesAsTheyCome() async throws {
        try await withServer { server, transport in
            // given
            var request = get(server.origin + "/stall")
            request.limits = TransferLimits(total: nil, stall: nil)

            // when
            let stream = try await transport.stream(request)
            var iterator = stream.body.makeAsyncIterator()
            let first = try await iterator.next()
            try server.directory.write("go", "")
            var rest: [UInt8] = []
            while let chunk = try await iterator.next() { rest += chunk }

            // then
            #expect(first == Array("1".utf8))
            #expect(rest == Array("234567890".utf8))
        }
    }

    @Test func testThatASlowReaderHoldsTheServerUp() async throws {
        try await withServer { server, transport in
            // given
            let size = 64 << 20
            let stream = try await transport.stream(get(server.origin + "/zeros?n=\(size)"))
            var iterator = stream.body.makeAsyncIterator()

            // when: one chunk is read, and meanwhile another transfer of the same thread completes.
            var count = try await iterator.next()?.count ?? 0
            let other = try await transport.perform(get(server.origin + "/headers"))
            while let chunk = try await iterator.next() { count += chunk.count }

            // then
            #expect(other.status == 200)
            #expect(count == size)
        }
    }

    @Test(.proves(.transfer, "One `Transport`, over libcurl's multi interface"))
    func testThatManyTransfersRunAtOnce() async throws {
        try await withServer { server, transport in
            let request = get(server.origin + "/zeros?n=100000")
            let sizes = try await withThrowingTaskGroup(of: Int64.self) { group in
                for _ in 0..<50 { group.addTask { try await transport.perform(request).size } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(sizes == Array(repeating: 100_000, count: 50))
        }
    }
}
