import Archives
import Basics
import Encodings
import Foundation
import Model
import Settings
import Storage
import TestSupport
import Testing
import Transfer

@testable import Web

/// Whatever anonymous clients do, webhooks and `/health` are answered.
@Suite struct AnonymousReadersTests {
    private static let integration = "/api/v1/bots/kit/integrations/1"
    private static let issues = 2000
    /// A text that makes each export and listing some 6 MB, more than the kernel buffers for a client that does not read.
    private static let words = String(repeating: "unused ", count: 380)

    private static func withService(
        connections: Int = 16, proxies: [String] = [], _ body: @Sendable (WebFixture) async throws -> Void
    ) async throws {
        let file = "repository: \(SampleContent.repository)\nwebhook: { secret: kit-webhook }\n"
        try await withWeb(bots: ["kit": file], connections: connections, proxies: proxies) { web in
            try SecretStore(directory: web.directory.path("secrets"), credentialsDirectory: nil)
                .set("kit-webhook", "a secret")
            try await body(web)
        }
    }

    /// Expects answers that must always come: to `/health`, and to a small and a large webhook.
    private static func expectService(
        _ web: WebFixture, _ id: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await web.expect(200, "GET", "/health", sourceLocation: sourceLocation)
        for size in [10, 100_000] {
            let answer = try await push(web, "\(id)-\(size)", size: size)
            #expect(answer.status == 202, "\(size) bytes: \(answer.text)", sourceLocation: sourceLocation)
        }
    }

    private static func push(_ web: WebFixture, _ id: String, size: Int) async throws -> RawAnswer {
        let body = Array(#"{"updates":[],"padding":"\#(String(repeating: "x", count: size))"}"#.utf8)
        let code = Hexadecimal.encode(Digest.hmacSHA256(key: Array("a secret".utf8), message: body))
        return try await web.send(
            "POST", "/webhooks/push/kit",
            headers: [("X-Hub-Signature-256", "sha256=" + code), ("X-Martlet-Delivery", id)], body: body)
    }

    /// Stores an integration with many issues.
    private static func fill(_ web: WebFixture) async throws {
        let record = try await web.store.queue(
            NewIntegration(
                bot: SampleContent.kit, ref: RefName(branch: "main"), commit: SampleContent.commits[0], cause: .push),
            at: WebFixture.now)
        _ = try await web.store.apply(.started, to: record.id, at: WebFixture.now)
        let issues = (0..<Self.issues).map { number in
            Model.Issue(
                fingerprint: Digest.sha256(of: Array("\(number)".utf8)), status: .new,
                finding: Finding(
                    category: .warning, message: "\(words)\(number)", path: "a.c", line: number + 1),
                age: 1, configurations: [SampleContent.debug])
        }
        try await web.store.completeIssues(of: record.id, issues: issues, summary: Summary(), at: WebFixture.now)
    }

    @Test(
        .proves(
            .intake,
            "An unread answer occupies no memory and no slot: a large one is on the disk; exports are written piece by piece"
        ))
    func testThatUnreadExportsWaitOnTheDiskAndHoldNobodyUp() async throws {
        try await Self.withService(connections: 64) { web in
            // given
            try await Self.fill(web)
            let target = Self.integration + "/issues"
            let size = try await web.send("GET", target).body.count
            #expect(size > 5_000_000)

            // when
            let clients = try (1...6).map { _ in try SlowClient(get: target, port: web.port) }

            // then: each was computed, and stays on the disk until it is read
            await until("all exports are on the disk") { web.limits.answers.held == Int64(6 * size) }
            #expect(web.limits.exports.waitingCount == 0)
            try await Self.expectService(web, "unread")
            let answer = try await web.send("GET", target)
            #expect(answer.status == 200 && answer.body.count == size)
            for client in clients { #expect(await client.status() == 200) }
        }
    }

    /// All clients read one file.
    @Test(
        .proves(
            .intake,
            "An export (SARIF, JUnit, grid) is computed once until its integration or a silence changes, and served as a file with ranges and 304, bounded"
        ))
    func testThatUnreadReadersOfAnExportHoldNobodyUp() async throws {
        try await Self.withService(connections: 64) { web in
            // given
            try await Self.fill(web)
            let target = Self.integration + "/issues.sarif"

            // when
            let clients = try (1...6).map { _ in try SlowClient(get: target, port: web.port) }

            // then
            await until("all are sent the export") { web.limits.downloads.held == 6 }
            #expect(web.limits.answers.held == 0)
            #expect(web.limits.exports.waitingCount == 0)
            try await Self.expectService(web, "unread")
            for client in clients { #expect(await client.status() == 200) }
        }
    }

    /// Otherwise a client that reads exports of many integrations slowly would fill the disk.
    @Test(
        .proves(
            .intake,
            "An export (SARIF, JUnit, grid) is computed once until its integration or a silence changes, and served as a file with ranges and 304, bounded"
        ))
    func testThatAnExportThatIsNotKeptCountsUntilItIsRead() async throws {
        try await Self.withService(connections: 64) { web in
            // given: clients read everything that is kept
            try await Self.fill(web)
            let target = Self.integration + "/issues.sarif"
            let size = try await web.send("GET", target).body.count
            let exports = web.site.exports
            exports.removeAll()
            let small = try await KeptExportsTests.export("kept", web)
            let id = IntegrationID(bot: SampleContent.kit, number: 1)
            let readers = (1...KeptExports.maximumCount).compactMap { number in
                exports.put(small, .init(integration: id, kind: "\(number)", form: ""), stamp: 0).kept
            }
            #expect(readers.count == KeptExports.maximumCount)

            // when
            var client: SlowClient? = try SlowClient(get: target, port: web.port)

            // then
            #expect(await client?.status() == 200)
            #expect(web.limits.answers.held == Int64(4 + size))
            client = nil
            await until("it is released") { web.limits.answers.held == 4 }
            withExtendedLifetime((readers, small)) {}
        }
    }

    @Test(
        .proves(
            .intake,
            "An unread answer occupies no memory and no slot: a large one is on the disk; exports are written piece by piece"
        ))
    func testThatAnExportIsWhatItWasInOnePiece() async throws {
        try await Self.withService { web in
            // given
            try await Self.fill(web)
            // when
            let answer = try await web.send("GET", Self.integration + "/issues.sarif")
            // then
            #expect(answer["Content-Length"] == "\(answer.body.count)")
            #expect(answer["Content-Type"] == "application/sarif+json")
            #expect(answer.body.count > 5_000_000)
            let log = try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]
            let run = (log?["runs"] as? [[String: Any]])?.first
            #expect((run?["results"] as? [Any])?.count == Self.issues)
            await until("nothing of it is left") { web.limits.answers.held == 0 }
        }
    }

    /// The disk is full before the answer, or becomes full in its middle.
    @Test(.smallDisk, arguments: [true, false])
    func testThatAFullDiskKeepsLargeAnswersFromAnonymousReadersAlone(isFullBefore: Bool) async throws {
        try await Self.withService { web in
            // given
            try await Self.fill(web)
            let target = Self.integration + "/issues.sarif"
            let whole = try await web.send("GET", target).body
            await until("nothing of it is left") { web.limits.answers.held == 0 }
            let staging = web.state + "/staging"
            web.site.exports.removeAll()
            try await SmallDisk.mounted(on: staging, size: "1m") {
                if isFullBefore { try SmallDisk.fill(with: staging + "/full") }

                // when
                let refused = try await web.send("GET", target)
                let known = try await web.send("GET", target, as: .viewer)
                var request = TransferRequest(.get, "http://localhost" + target)
                request.unixSocket = web.socket
                let local = try await CurlTransport().perform(request)

                // then
                #expect(refused.status == 503)
                #expect(refused["Retry-After"] == "5")
                expectContains(refused.text, "The disk of the service is full")
                #expect(known.status == 200)
                #expect(known.body == whole)
                #expect(local.status == 200)
                #expect(local.body == whole)
                await until("nothing of them is left") {
                    web.limits.answers.held == 0 && web.limits.answersInMemory.held == 0
                }
            }
        }
    }

    @Test(
        .proves(
            .intake,
            "Pages and exports are computed on separate threads, a few at a time; others wait in a bounded queue, tokens first, or get 503 with `Retry-After`"
        ))
    func testThatHeavyAnswersWaitForTheirTurnInABoundedQueue() async throws {
        try await Self.withService(connections: 256) { web in
            // given: one export is being computed, and as many requests wait as may
            try await Self.fill(web)
            var turn: AnswerSemaphore.Turn? = try await web.limits.exports.acquire(.anonymous)
            let target = Self.integration + "/issues?limit=1"
            let waiting = try (1...16).map { _ in try SlowClient(get: target, port: web.port) }
            await until("sixteen wait") { web.limits.exports.waitingCount == 16 }

            // when
            let refused = try await web.send("GET", target)

            // then
            #expect(refused.status == 503)
            #expect(refused["Retry-After"] == "5")
            try await Self.expectService(web, "queue")
            #expect(try await web.send("GET", "/bots/kit").status == 200, "a page waits for no export")
            withExtendedLifetime(turn) {}
            turn = nil
            for client in waiting { #expect(await client.status() == 200) }
        }
    }

    @Test(
        .proves(
            .intake,
            "Pages and exports are computed on separate threads, a few at a time; others wait in a bounded queue, tokens first, or get 503 with `Retry-After`"
        ))
    func testThatPagesWaitForTheirTurnAndKnownCallersGoFirst() async throws {
        try await Self.withService(connections: 512) { web in
            // given
            var turns = [
                try await web.limits.pages.acquire(.anonymous), try await web.limits.pages.acquire(.anonymous),
            ]
            let waiting = try (1...64).map { _ in try SlowClient(get: "/bots/kit", port: web.port) }
            await until("sixty-four wait") { web.limits.pages.waitingCount == 64 }

            // when
            try await web.expect(503, "GET", "/bots/kit")
            let token = try #require(web.tokens[.viewer])
            let known = try SlowClient(
                get: "/bots/kit", "Authorization: Bearer \(token.secret)\r\n", port: web.port)
            await until("one more waits") { web.limits.pages.waitingCount == 65 }

            // then
            try await Self.expectService(web, "pages")
            turns.removeLast()
            #expect(await known.status() == 200)
            turns.removeAll()
            for client in waiting { #expect(await client.status() == 200) }
        }
    }

    @Test(
        .proves(
            .intake,
            "Event streams and downloads have a quarter of the connections each; of downloads, unread answers and bodies the slowest is closed"
        ))
    func testThatEventStreamsHaveAQuarterOfTheConnections() async throws {
        try await Self.withService(connections: 16) { web in
            // given
            let streams = try (1...4).map { _ in try SlowClient(get: "/api/v1/events", port: web.port) }
            for stream in streams { #expect(await stream.status() == 200) }

            // when
            let refused = try await web.send("GET", "/api/v1/events")

            // then
            #expect(refused.status == 503)
            #expect(refused["Retry-After"] == "5")
            try await Self.expectService(web, "streams")
        }
    }

    /// Each kind has its own places: streams cannot keep downloads away.
    @Test(
        .proves(
            .intake,
            "Event streams and downloads have a quarter of the connections each; of downloads, unread answers and bodies the slowest is closed"
        ))
    func testThatDownloadsHaveAQuarterOfTheConnectionsToo() async throws {
        try await Self.withService(connections: 16) { web in
            // given: a file that does not fit into the buffers between a server and a client that does not read
            let content = SampleContent(web: web)
            try await content.fill()
            let record = try #require(try await web.store.latestIntegration(of: SampleContent.kit))
            try await content.publish("2.0.0", by: record, files: ["large": [UInt8](repeating: 7, count: 8 << 20)])
            let target = "/files/kit/2.0.0/large"
            let clients = try (1...4).map { _ in try SlowClient(get: target, port: web.port) }
            for client in clients { #expect(await client.status() == 200) }

            // when
            let refused = try await web.send("GET", target)

            // then
            #expect(refused.status == 503)
            #expect(refused["Retry-After"] == "5")
            try await Self.expectService(web, "downloads")
            #expect(
                try await web.send("GET", "/files/kit/1.0.0/page.html").status == 200, "a small file needs no place")
            let stream = try SlowClient(get: "/api/v1/events", port: web.port)
            #expect(await stream.status() == 200)
        }
    }

    /// More clients than the connection limit request a page that does not fit into the sockets' buffers, and do not read it.
    @Test(
        .proves(
            .intake,
            "An unread answer occupies no memory and no slot: a large one is on the disk; exports are written piece by piece"
        ))
    func testThatUnreadPagesKeepNobodyOut() async throws {
        try await Self.withService(connections: 12) { web in
            // given
            try await Self.fill(web)
            // when
            var clients: [SlowClient] = []
            for _ in 1...15 {
                clients.append(try SlowClient(get: Self.integration + "/issues", port: web.port))
                // Each is being answered before the next one arrives, so it owes no request.
                try await Self.expectService(web, "unread-\(clients.count)")
            }
            // then
            try await web.expect(200, "GET", "/health")
        }
    }

    @Test(
        .proves(
            .intake,
            "Without a signature header no body is read; a large body stays on the disk until it is verified; forged signatures keep no webhook away (W11)"
        ))
    func testW11ThatMadeUpSignaturesKeepNoLargeWebhookAway() async throws {
        try await Self.withService(connections: 256) { web in
            // given: bodies that never end
            let head =
                "POST /webhooks/github/kit HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                + "X-Hub-Signature-256: sha256=\(String(repeating: "0", count: 64))\r\nContent-Length: 200000\r\n\r\n"
            let clients = try (1...40).map { _ in
                try SlowClient(head + String(repeating: "x", count: 70_000), port: web.port)
            }
            await until("their bytes are on the disk") {
                web.limits.bodies.held > Int64(40 * (70_000 - WebLimits.bodyBytesInMemory - 8192))
            }

            // when, then
            try await Self.expectService(web, "bodies")
            for client in clients { client.send(String(repeating: "x", count: 130_000)) }
            for client in clients { #expect(await client.status() == 401) }
            await until("nothing of them is left") { web.limits.bodies.held == 0 }
        }
    }

    /// The log has the reason once, not for each of them.
    @Test(.smallDisk) func testThatASenderIsNotToldWhyItsBodyCannotBeStored() async throws {
        try await Self.withService { web in
            let staging = web.state + "/staging"
            func lines() -> [RecordingLogger.Line] {
                web.log.lines.filter { $0.message.hasPrefix("a webhook's body could not be stored") }
            }
            try await SmallDisk.mounted(on: staging, size: "1m") {
                // given
                try SmallDisk.fill(with: staging + "/full")
                for id in ["first", "second"] {
                    // when
                    let answer = try await Self.push(web, id, size: 100_000)
                    // then
                    #expect(answer.status == 503)
                    expectContains(
                        answer.text, #""detail":"The body could not be stored; send it again in a while.""#)
                }
                #expect(lines().map { $0.metadata["error"] } == ["No space left on device"])
                // It is logged again after a body was stored meanwhile
                try Directory(opening: staging).remove("full")
                #expect(try await Self.push(web, "third", size: 100_000).status == 202)
                try SmallDisk.fill(with: staging + "/full")
                #expect(try await Self.push(web, "fourth", size: 100_000).status == 503)
                #expect(lines().count == 2)
            }
        }
    }

    @Test(
        .proves(
            .intake,
            "Without a signature header no body is read; a large body stays on the disk until it is verified; forged signatures keep no webhook away (W11)"
        ))
    func testW11ThatTheLargestWebhookIsTakenFromTheDisk() async throws {
        try await Self.withService { web in
            let answer = try await Self.push(web, "largest", size: (26 << 20) - 100)
            #expect(answer.status == 202, "\(answer.text)")
        }
    }

    /// Behind a proxy each client has its own share. Without the header, or with an untrusted one, no client has.
    @Test(
        .proves(
            .intake,
            "Limits for each client apply by address, also behind a proxy in `proxies`; loopback and the Unix socket have none"
        ))
    func testThatAProxysClientHasItsOwnShare() async throws {
        try await Self.withService(connections: 64, proxies: ["127.0.0.1"]) { web in
            // given: 16 places for streams, 4 of them for one client
            func stream(_ client: String) throws -> SlowClient {
                try SlowClient(get: "/api/v1/events", "X-Forwarded-For: \(client)\r\n", port: web.port)
            }
            let streams = try (1...4).map { _ in try stream("192.0.2.7") }
            for stream in streams { #expect(await stream.status() == 200) }

            // when, then
            #expect(await (try stream("203.0.113.1, 192.0.2.7")).status() == 503)
            #expect(await (try stream("192.0.2.8")).status() == 200)
        }
        try await Self.withService(connections: 64) { web in
            let streams = try (1...6).map { _ in
                try SlowClient(get: "/api/v1/events", "X-Forwarded-For: 192.0.2.7\r\n", port: web.port)
            }
            for stream in streams { #expect(await stream.status() == 200) }
        }
    }

    @Test(
        .proves(
            .intake,
            "Limits for each client apply by address, also behind a proxy in `proxies`; loopback and the Unix socket have none"
        ))
    func testThatThePeersOfTheUnixSocketNeedNoPlace() async throws {
        try await Self.withService(connections: 4) { web in
            let stream = try SlowClient(get: "/api/v1/events", port: web.port)
            #expect(await stream.status() == 200)
            try await web.expect(503, "GET", "/api/v1/events")
            var request = TransferRequest(.get, "http://localhost/api/v1/events")
            request.unixSocket = web.socket
            #expect(try await CurlTransport().stream(request).status == 200)
        }
    }
}
