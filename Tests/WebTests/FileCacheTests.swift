import Basics
import HTTPTypes
import Model
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Storage
import TestSupport
import Testing

@testable import Web

/// Small files that are served from memory.
@Suite struct FileCacheTests {
    private static let path = "/files/kit/1.4.2/kit-source.tar.gz"
    private static let later = NIODeadline.now() + .hours(24)

    private static func entry(_ text: String = "source", name: String = "a.txt") -> FileCache.Entry {
        let bytes = Array(text.utf8)
        let artifact = Artifact(
            configuration: nil, path: name, size: ByteCount(Int64(bytes.count)), sha256: Digest.sha256(of: bytes))
        return FileCache.Entry(
            head: FileHead(artifact, modified: WebFixture.now, cacheControl: FileServer.forEver),
            bytes: ByteBuffer(bytes: bytes),
            download: .init(product: SampleContent.kit, version: SemanticVersion(1, 0, 0), path: name))
    }

    // MARK: The cache

    @Test(
        .proves(
            .releases,
            "Serving: What is answered from memory is what the usual way answers, in order, bounded, for a second"))
    func testThatAnEntryIsTrustedForASecond() {
        let fileCache = FileCache()
        let now = NIODeadline.now()
        fileCache.put(Self.entry(), at: "/a", now: now)
        #expect(fileCache.entry(at: "/a", now: now + .milliseconds(999)) != nil)
        #expect(fileCache.entry(at: "/A", now: now) == nil)
        #expect(fileCache.entry(at: "/a", now: now + .seconds(1)) == nil)
        #expect(fileCache.bytes == 0)
    }

    @Test(
        .proves(
            .releases,
            "Serving: What is answered from memory is what the usual way answers, in order, bounded, for a second"))
    func testThatItsMemoryIsBounded() {
        let fileCache = FileCache()
        let entry = Self.entry(String(repeating: "a", count: FileCache.maximumFileBytes))
        for number in 1...2000 {
            fileCache.put(entry, at: "/\(number)")
            fileCache.put(entry, at: "/\(number)")
            #expect(fileCache.bytes <= FileCache.maximumBytes)
        }
        #expect(fileCache.bytes > FileCache.maximumFileBytes)
        fileCache.put(entry, at: "/a?b")
        #expect(fileCache.entry(at: "/a?b") == nil, "queries are without number")
    }

    // MARK: The service

    /// Replaces the cached bytes of a file, so that an answer shows its origin.
    private static func shelve(_ web: WebFixture) async throws {
        try await web.expect(200, "GET", path)
        let entry = try #require(web.site.fileCache.entry(at: path, now: .uptimeNanoseconds(0)))
        web.site.fileCache.put(
            .init(head: entry.head, bytes: ByteBuffer(string: "SOURCE"), download: entry.download), at: path,
            now: later)
    }

    /// Requests a file on a connection that stays open, until a second request ends it.
    private static func answer(
        _ method: String, _ headers: [(String, String)], _ web: WebFixture, body: String = ""
    ) async throws -> RawAnswer {
        let lines = headers.map { "\($0.0): \($0.1)\r\n" }.joined()
        let text = try await RawAnswer.exchange(
            "\(method) \(path) HTTP/1.1\r\nHost: a\r\n\(lines)\r\n\(body)GET /none HTTP/1.1\r\nHost: a\r\n"
                + "Connection: close\r\n\r\n", port: web.port)
        let split = text.firstRange(of: "HTTP/1.1 404")?.lowerBound ?? text.endIndex
        return try RawAnswer.parse(Array(text[..<split].utf8), isHead: method == "HEAD")
    }

    /// They differ only in the time, and in the connection, which the usual way's client has closed here.
    @Test(
        .proves(
            .releases,
            "Serving: What is answered from memory is what the usual way answers, in order, bounded, for a second"))
    func testThatAnAnswerFromMemoryIsTheUsualOne() async throws {
        let rows: [(String, [(String, String)])] = [
            ("GET", []), ("HEAD", []), ("GET", [("Range", "bytes=1-3")]), ("GET", [("Range", "bytes=9-")]),
            ("GET", [("Range", "bytes=3-1")]), ("GET", [("Range", "bytes=0-1,2-3")]), ("GET", [("If-None-Match", "*")]),
            ("HEAD", [("Range", "bytes=1-3")]), ("GET", [("If-Range", "\"other\""), ("Range", "bytes=1-3")]),
            ("GET", [("If-Modified-Since", "Sun, 06 Nov 2094 08:49:37 GMT")]), ("GET", [("Accept", "text/html")]),
            ("GET", [("Connection", "keep-alive")]),
        ]
        try await FileServerTests.withVersions { web in
            for (method, headers) in rows {
                // given
                let usual = try await web.send(method, Self.path, headers: headers)
                try await Self.shelve(web)
                // when
                let answer = try await Self.answer(method, headers, web)
                // then
                #expect(answer.status == usual.status, "\(method) \(headers)")
                #expect(answer.lines(without: "Date", "Connection") == usual.lines(without: "Date", "Connection"))
                #expect(answer["Date"] != nil)
                #expect(answer.text == usual.text.uppercased(), "\(method) \(headers)")
            }
        }
    }

    /// Requests whose answer depends on more than the path.
    @Test(
        .proves(
            .releases,
            "Serving: What is answered from memory is what the usual way answers, in order, bounded, for a second"))
    func testThatAllElseGoesTheUsualWay() async throws {
        let rows: [(String, [(String, String)], Int)] = [
            ("GET", [("Authorization", "Bearer mt_none")], 401), ("GET", [("If-Match", "\"other\"")], 412),
            ("POST", [("Content-Length", "0")], 405), ("GET", [("Content-Length", "1")], 200),
            ("GET", [("Connection", "TE")], 200), ("GET", [("Upgrade", "h2c")], 200),
        ]
        try await FileServerTests.withVersions { web in
            for (method, headers, status) in rows {
                try await Self.shelve(web)
                let body = headers.contains { $0 == ("Content-Length", "1") } ? "x" : ""
                let answer = try await Self.answer(method, headers, web, body: body)
                #expect(answer.status == status, "\(headers)")
                #expect(!answer.text.contains("SOURCE"))
            }
            try await Self.shelve(web)
            #expect(try await web.send("GET", Self.path).text == "source", "it has TE")
        }
    }

    /// Clients that open a connection for each file send this.
    @Test(
        .proves(
            .releases,
            "Serving: What is answered from memory is what the usual way answers, in order, bounded, for a second"),
        arguments: ["close", "Close"])
    func testThatAnAnswerFromMemoryEndsItsConnection(value: String) async throws {
        try await FileServerTests.withVersions { web in
            // given
            try await Self.shelve(web)
            let request = "GET \(Self.path) HTTP/1.1\r\nHost: a\r\nConnection: \(value)\r\n\r\n"
            // when
            let text = try await RawAnswer.exchange(request + request, port: web.port)
            // then
            #expect(text.hasSuffix("\r\n\r\nSOURCE"), "\(text)")
            expectContains(text.lowercased(), "\r\nconnection: close\r\n")
            #expect(text.ranges(of: "HTTP/1.1 ").count == 1, "a second answer: \(text)")
        }
    }

    /// Answers come in the order of their requests, from memory or from the disk.
    @Test(
        .proves(
            .releases,
            "Serving: What is answered from memory is what the usual way answers, in order, bounded, for a second"))
    func testThatAnswersKeepTheirOrder() async throws {
        try await FileServerTests.withVersions { web in
            try await Self.shelve(web)
            let get = "GET \(Self.path) HTTP/1.1\r\nHost: a\r\n"
            let text = try await RawAnswer.exchange(
                "\(get)\r\nGET /health HTTP/1.1\r\nHost: a\r\n\r\n\(get)\r\n\(get)Connection: close\r\n\r\n",
                port: web.port)
            let bodies = text.components("\r\n\r\n").dropFirst().map { $0.prefix { $0 != "H" } }
            #expect(bodies.count == 4)
            #expect(bodies.first == "SOURCE")
            #expect(bodies.dropFirst().first?.contains("\"status\"") == true)
        }
    }

    @Test(
        .proves(
            .releases,
            "Serving: Download counts by file and version on pages, JSON index and API; by the last byte; kept through restarts"
        ))
    func testThatItCountsDownloads() async throws {
        try await FileServerTests.withVersions { web in
            try await Self.shelve(web)
            for (method, headers) in [("GET", []), ("HEAD", []), ("GET", [("Range", "bytes=0-1")])] {
                _ = try await Self.answer(method, headers, web)
            }
            await web.site.downloads.flush()
            let counts = try await web.store.downloads(of: SampleContent.kit)
            #expect(counts.map(\.count) == [2], "one to fill the cache, one from it")
        }
    }

    @Test(
        .proves(
            .releases,
            "Serving: Active content never runs in the service's origin (X5), odd paths are 404 or exact (R1), ranges cost no more than the file (R2), closed files are private (R3)"
        ))
    func testR3ThatWhatNeedsATokenIsNeverKept() async throws {
        try await FileServerTests.withVersions(anonymousMayRead: false) { web in
            try await web.expect(200, "GET", Self.path, as: .viewer)
            #expect(web.site.fileCache.bytes == 0)
            try await web.expect(401, "GET", Self.path)
        }
    }

    // MARK: The connection

    private static func connection(_ fileCache: FileCache) throws -> EmbeddedChannel {
        let channel = try RequestDeadlinesTests.connection()
        try channel.pipeline.syncOperations.addHandler(
            CachedFileAnswers(
                fileCache: fileCache, date: DateText(),
                hosts: ServedHosts(
                    WebConfiguration(
                        listen: [], socket: nil, state: "/", url: "http://a", anonymousMayRead: true, version: "1")),
                onDownload: { _ in }))
        return channel
    }

    private static func fileCache(_ size: Int = 6) -> FileCache {
        let fileCache = FileCache()
        fileCache.put(entry(String(repeating: "a", count: size)), at: "/a", now: later)
        return fileCache
    }

    private static let get = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"

    /// Its requests are passed to where answers wait. A hundred requests in one packet do not put a hundred files into memory.
    @Test(
        .proves(
            .releases,
            "Serving: What is answered from memory is what the usual way answers, in order, bounded, for a second"))
    func testThatAClientThatTakesNoAnswerGetsNoMore() throws {
        // given
        let channel = try Self.connection(Self.fileCache(60_000))
        channel.isWritable = false
        // when
        try RequestDeadlinesTests.send(Self.get, channel)
        // then
        #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
        let part = try #require(try channel.readInbound(as: HTTPRequestPart.self))
        guard case .head(let head) = part else { return #expect(Bool(false), "\(part)") }
        #expect(head.path == "/a")
    }

    @Test(
        .proves(
            .releases,
            "Serving: What is answered from memory is what the usual way answers, in order, bounded, for a second"))
    func testThatStoppingWaitsForWhatIsBeingSent() throws {
        // given
        let channel = try Self.connection(Self.fileCache())
        let watch = EventWatch()
        try channel.pipeline.syncOperations.addHandler(watch)
        let gate = FlushGate()
        try channel.pipeline.syncOperations.addHandler(gate, position: .first)
        try RequestDeadlinesTests.send(Self.get, channel)
        // when
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        // then
        #expect(watch.count == 0)
        gate.open()
        #expect(watch.count == 1)
    }

    private final class EventWatch: ChannelInboundHandler {
        typealias InboundIn = HTTPRequestPart
        var count = 0
        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if event is ChannelShouldQuiesceEvent { count += 1 }
        }
    }
}

extension String {
    fileprivate func components(_ separator: String) -> [Substring] {
        split(separator: separator, omittingEmptySubsequences: true)
    }
}
