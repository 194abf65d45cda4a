import Basics
import GRDB
import Glibc
import Model
import NIOCore
import NIOEmbedded
import Storage
import Synchronization
import TestSupport
import Testing

@testable import Web

/// Answers in progress end when the caller may no longer read.
@Suite struct LiveAnswersTests {
    /// A connection with a request whose answer continues.
    final class Reader: Sendable {
        private let number: Int32
        private let queue = SerialQueue(label: "reader")

        init(_ web: WebFixture, _ path: String, token: BearerToken?) throws {
            number = try #require(LoopbackSocket.connected(to: web.port))
            LoopbackSocket.limitWaiting(of: number)
            // The answer to a slow client has only begun when its right is revoked.
            LoopbackSocket.limitReceiving(of: number)
            let authorization = token.map { "Authorization: Bearer \($0.secret)\r\n" } ?? ""
            let request = "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\(authorization)\r\n"
            _ = send(number, request, request.utf8.count, Int32(MSG_NOSIGNAL))
        }

        deinit { close(number) }

        /// Reads until a text has arrived.
        func read(until text: String) async -> String {
            await queue.run { [number] in
                var found = ""
                var buffer = [UInt8](repeating: 0, count: 4096)
                while !found.contains(text) {
                    let count = recv(number, &buffer, buffer.count, 0)
                    if count <= 0 { return found }
                    found += String(decoding: buffer[..<count], as: UTF8.self)
                }
                return found
            }
        }

        /// Reads until the connection ends.
        /// - Returns: The number of bytes; `nil` if none arrives and the connection stays.
        func end() async -> Int? {
            await queue.run { [number] in
                var total = 0
                var buffer = [UInt8](repeating: 0, count: 65_536)
                while true {
                    let count = recv(number, &buffer, buffer.count, 0)
                    if count == 0 || count < 0 && errno == ECONNRESET { return total }
                    if count < 0 { return nil }
                    total += count
                }
            }
        }
    }

    private static let fileBytes = 32 << 20

    /// Runs a test with a running job whose log is followed, and a file that is larger than the kernel's buffers of a connection.
    private static func withReaders(
        as role: Role?, _ body: @Sendable (WebFixture, [String: Reader]) async throws -> Void
    ) async throws {
        try await withWeb(anonymousMayRead: role == nil, looksAtLogs: .milliseconds(1)) { web in
            let job = try await LogEventsTests.Running(web)
            job.print("before\n")
            let sample = SampleContent(web: web)
            let record = try #require(
                try await web.store.integration(IntegrationID(bot: SampleContent.kit, number: 1)))
            try await sample.publish(
                "1.0.0", by: record, files: ["large": [UInt8](repeating: 7, count: fileBytes)])
            let token = role.flatMap { web.tokens[$0] }
            var readers = ["download": try Reader(web, "/files/kit/1.0.0/large", token: token)]
            if role != nil {
                readers["log"] = try Reader(
                    web, "/api/v1/bots/kit/integrations/1/log/debug/events", token: token)
                readers["events"] = try Reader(web, "/api/v1/events", token: token)
            }
            for (name, reader) in readers {
                let begin = name == "download" ? "\r\n\r\n" : name == "log" ? "before" : "retry: 3000"
                let answer = await reader.read(until: begin)
                #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(name): \(answer.prefix(300))")
            }
            try await body(web, readers)
        }
    }

    @Test(.proves(.web, "Answers in progress end when their token is revoked or their product is closed (A7)"))
    func testA7ThatEverythingThatIsUnderWayEndsWithItsToken() async throws {
        try await Self.withReaders(as: .viewer) { web, readers in
            // given: another token's reading continues
            let other = try Reader(web, "/api/v1/events", token: web.tokens[.operator])
            _ = await other.read(until: "retry: 3000")
            // when
            try await web.expect(204, "DELETE", "/api/v1/tokens/viewer", as: .admin)
            // then
            for (name, reader) in readers {
                let rest = await reader.end()
                #expect(rest != nil, "\(name) goes on")
                #expect((rest ?? 0) < Self.fileBytes, "\(name)")
            }
            _ = try await web.store.queue(
                NewIntegration(
                    bot: SampleContent.kit, ref: RefName(branch: "main"), commit: SampleContent.commits[1], cause: .push
                ),
                at: WebFixture.now)
            expectContains(await other.read(until: "event: integration"), "event: integration")
            await until("nothing is held of them") { web.answers.count == 1 }
        }
    }

    /// A backup of the database was restored, or its rows were changed by hand.
    @Test func testA7ThatATokenThatIsGoneFromTheDatabaseEndsThemToo() async throws {
        try await Self.withReaders(as: .viewer) { web, readers in
            let other = try DatabaseQueue(path: web.state + "/martlet.sqlite")
            try await other.write { try $0.execute(sql: "DELETE FROM tokens WHERE name = 'viewer'") }
            try other.close()
            for (name, reader) in readers { #expect(await reader.end() != nil, "\(name) goes on") }
        }
    }

    @Test func testA7ThatADownloadEndsWhenItsProductIsClosed() async throws {
        try await Self.withReaders(as: nil) { web, readers in
            // when
            try await web.store.register(
                [BotSpecification(name: SampleContent.kit, repository: SampleContent.repository, isPublic: false)],
                at: WebFixture.now)
            // then
            let rest = try #require(await readers["download"]?.end())
            #expect(rest < Self.fileBytes)
        }
    }

    /// For example `DELETE /api/v1/tokens/NAME` with the token's own name, which was cut if the check came before the answer was written.
    @Test func testThatAnAnswerThatDoesNotLastArrivesThoughItsTokenIsRevoked() async throws {
        try await withWeb { web in
            // given: one that waits for its turn, and a stream
            let token = try #require(web.tokens[.admin])
            let stream = try Reader(web, "/api/v1/events", token: token)
            _ = await stream.read(until: "retry: 3000")
            var turns: [AnswerSemaphore.Turn] = []
            for _ in 1...16 { turns.append(try await web.limits.light.acquire(.anonymous)) }
            let client = try SlowClient(
                get: "/api/v1/tokens", "Authorization: Bearer \(token.secret)\r\n", port: web.port)
            await until("it waits") { web.limits.light.waitingCount == 1 }
            #expect(web.answers.count == 1)
            // when
            #expect(try await web.store.revokeToken(name: "admin", at: WebFixture.now))
            // then
            #expect(await stream.end() != nil)
            turns.removeAll()
            #expect(await client.status() == 200)
        }
    }

    /// So a thousand downloads need one query at each check.
    @Test func testThatDownloadsOfAProductOrPackageHaveOnePermit() {
        let kit = ProductScope.product(SampleContent.kit)
        #expect(ProductScope(["product": "kit", "version": "1.0.0", "file": "a"]) == kit)
        #expect(ProductScope(["product": "kit", "version": "2.0.0", "file": "b"]) == kit)
        #expect(ProductScope(["product": "tool", "version": "1.0.0", "file": "a"]) != kit)
        let package = ProductScope(["scope": "Acme", "name": "Kit", "version": "1.0.0.zip"])
        #expect(package == ProductScope(["scope": "acme", "name": "kit", "version": "2.0.0.zip"]))
        #expect(package != ProductScope(["scope": "acme", "name": "other", "version": "1.0.0.zip"]))
        #expect(ProductScope(["product": "K it"]) == .nobodys)
        #expect(ProductScope([:]) == .all)
    }

    @Test(.proves(.web, "Answers in progress end when their token is revoked or their product is closed (A7)"))
    func testThatADatabaseThatCannotBeReadEndsNothing() async throws {
        try await withStoreOnly { store in
            // given
            struct Broken: Error {}
            let asked = AsyncStream.makeStream(of: Void.self)
            let answers = LiveAnswers(store: store, interval: .milliseconds(1)) { _ in
                asked.continuation.yield()
                throw Broken()
            }
            let channel = NIOAsyncTestingChannel()
            let isClosed = Mutex(false)
            channel.closeFuture.whenComplete { _ in isClosed.withLock { $0 = true } }
            let entry = answers.begin(.token("a"), over: channel)
            // when: it is requested three times
            await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await answers.run() }
                var iterator = asked.stream.makeAsyncIterator()
                for _ in 1...3 { _ = await iterator.next() }
                group.cancelAll()
            }
            // then
            #expect(!isClosed.withLock { $0 })
            withExtendedLifetime(entry) {}
            _ = try await channel.finish()
        }
    }

    private func withStoreOnly(_ body: (Store) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let store = try Store.open(path: directory.path("a.sqlite"))
            try await body(store)
            try store.close()
        }
    }
}
