import Basics
import Glibc
import TestSupport
import Testing

/// `martlet prune`, and requests for a removed integration, with a real daemon.
@Suite(
    .proves(
        .releases,
        "Versions: `martlet prune --dry-run` says why each thing stays or goes, and `prune` does that; open downloads finish, then 410 says when and why (R5)"
    ), .program("curl"))
struct RetentionDaemonTests {
    /// More than the buffers of a connection hold, so that the server waits for a client that stops reading.
    private static let size = 64 << 20

    private static let files = [
        "Makefile": "all:\n\thead -c \(size) /dev/urandom > big.bin\ncheck:\n\t@true\n",
        ".martlet.yml": "analyze: []\narchive: { include: [big.bin] }\n", ".gitignore": "big.bin\n",
    ]

    private func completion(of number: Int, _ daemon: Daemon) async throws {
        try await until("the end of kit#\(number)", limit: .seconds(60) * TestLimits.scale) {
            try await daemon.get("/api/v1/bots/kit/integrations/\(number)").body.contains("\"completed\"")
        }
    }

    /// Sends a request and reads the beginning of its answer.
    private static func begin(_ path: String, _ daemon: Daemon) throws -> (descriptor: Int32, begin: [UInt8]) {
        let descriptor = try #require(LoopbackSocket.connected(to: daemon.port))
        let text = Array("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".utf8)
        #expect(write(descriptor, text, text.count) == text.count)
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(descriptor, &buffer, buffer.count)
        return (descriptor, Array(buffer.prefix(max(0, count))))
    }

    /// Returns the number of bytes until the connection ends.
    private static func rest(_ descriptor: Int32) -> Int {
        var (total, buffer) = (0, [UInt8](repeating: 0, count: 1 << 20))
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return total }
            total += count
        }
    }

    @Test func testR5ThatPruneRemovesWhatItSaidAndAnOpenDownloadFinishes() async throws {
        try await withDaemon(bot: "retention: { integrations: 1 }\n") { daemon in
            // given: two integrations, and a download of the first that has begun
            _ = try await daemon.work.commit(files: Self.files, message: "Begin")
            try await daemon.work.push(to: daemon.remote)
            try await completion(of: 1, daemon)
            _ = try await daemon.work.commit(files: ["file": "2"], message: "Go on")
            try await daemon.work.push(to: daemon.remote)
            try await completion(of: 2, daemon)
            let artifacts = try await daemon.get("/api/v1/bots/kit/integrations/1/artifacts").body
            let place = try #require(artifacts.firstRange(of: daemon.url))
            let path = String(artifacts[place.upperBound...].prefix { $0 != "\"" })
            let (download, begin) = try Self.begin(path, daemon)
            defer { close(download) }
            let head = String(decoding: begin.prefix { $0 < 0x80 }, as: UTF8.self)
            expectContains(head, "HTTP/1.1 200")
            let length = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
            let size = try #require(length?.split(separator: " ").last.flatMap { Int($0) })
            #expect(size > Self.size)
            let blank = Array("\r\n\r\n".utf8)
            let body = try #require(begin.firstRange(of: blank)).upperBound
            // when
            let dry = try await daemon.output("prune", "--dry-run")
            #expect(try await daemon.get("/api/v1/bots/kit/integrations/1").status == 200)
            let done = try await daemon.output("prune")
            // then
            expectContains(dry, "goes   kit#1  ")
            expectContains(dry, "more than the 1 newest\n")
            expectContains(dry, "the newest of the bot\n")
            expectContains(dry, "would remove 1 integration (")
            expectContains(done, "removed  kit#1  ")
            expectContains(done, "\nremoved 1 integration (")
            let gone = try await daemon.get("/api/v1/bots/kit/integrations/1")
            #expect(gone.status == 410)
            expectContains(gone.body, "kit#1 was removed by retention on 20")
            expectContains(gone.body, ": more than the 1 newest.")
            #expect(try await daemon.get(path).status == 410)
            let page = try await daemon.get("/bots/kit/1", headers: ["Accept: text/html"])
            #expect(page.status == 410)
            expectContains(page.body, "kit#1 was removed by retention")
            let shown = try await daemon.martlet("show", "kit#1")
            #expect(shown.status == 66)
            expectContains(shown.stderr, "kit#1 was removed by retention")
            // The download continues to its end, although its file no longer has a name
            await until("the files are gone") { access(daemon.state + "/integrations/kit/1", F_OK) != 0 }
            #expect(begin.count - body + Self.rest(download) == size)
        }
    }

    @Test func testThatABotThatIsNotThereIsSaid() async throws {
        try await withDaemon { daemon in
            let answer = try await daemon.martlet("prune", "--bot", "other")
            #expect(answer.status == 66)
            expectContains(answer.stderr, "There is no such bot.")
        }
    }
}
