import Basics
import Encodings
import Glibc
import JobProtocol
import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// Harm that a published file could do to the service and its readers: rows X5 and R1 to R4 of the threats.
@Suite struct FileThreatTests {
    private static let path = "/files/kit/1.4.2/kit-source.tar.gz"

    private func withFiles(
        _ files: [String: [UInt8]], _ body: @escaping @Sendable (WebFixture) async throws -> Void
    ) async throws {
        try await FileServerTests.withVersions { web in
            let sample = SampleContent(web: web)
            let record = try await sample.integrate(1, ref: "release/3", failing: [], warnings: 0, before: nil)
            try await sample.publish("3.0.0", by: record, files: files)
            try await body(web)
        }
    }

    /// No product of a build is rendered or run in the origin of the service's pages.
    @Test(
        .proves(
            .releases,
            "Serving: Active content never runs in the service's origin (X5), odd paths are 404 or exact (R1), ranges cost no more than the file (R2), closed files are private (R3)"
        ),
        arguments: [
            ("page.html", "<script>alert(1)</script>", true), ("image.svg", "<svg onload='alert(1)'/>", true),
            ("feed.xml", "<?xml-stylesheet type='text/xsl' href='style.xsl'?><a/>", true),
            ("style.xsl", "<xsl:stylesheet/>", true), ("page.xhtml", "<html/>", true), ("doc.pdf", "%PDF-1.4", true),
            ("code.js", "alert(1)", true), ("movie.swf", "FWS", true), ("noextension", "<html><script>", true),
            ("utf7.txt", "+ADw-script+AD4-", false), ("gifar.gif", "GIF89aPK\u{3}\u{4}", false),
            ("page.html.txt", "<html>", false), ("PAGE.HTM", "<html>", true),
        ])
    func testX5ThatActiveContentNeverRunsHere(name: String, text: String, isSaved: Bool) async throws {
        try await withFiles([name: Array(text.utf8)]) { web in
            for path in ["/files/kit/3.0.0/\(name)", "/files/kit/latest/\(name)"] {
                // when
                let answer = try await web.send("GET", path, headers: [("Cookie", "a=b"), ("Accept", "text/html")])
                // then
                #expect(answer["Content-Security-Policy"]?.contains("sandbox") == true)
                #expect(answer["Content-Security-Policy"]?.contains("allow-") == false)
                #expect(answer["X-Content-Type-Options"] == "nosniff")
                #expect(answer["Set-Cookie"] == nil)
                let isRange = path.contains("latest")
                #expect(answer.status == (isRange ? 302 : 200), "\(path)")
                if isRange { continue }
                #expect(answer.text == text)
                #expect((answer["Content-Disposition"]?.hasPrefix("attachment") == true) == isSaved)
                let type = answer["Content-Type"] ?? ""
                #expect(!["html", "svg", "xml", "javascript", "flash"].contains { type.contains($0) }, "\(type)")
                #expect(!type.hasPrefix("text/") || type == "text/plain; charset=utf-8", "a charset is never guessed")
            }
        }
    }

    /// A name with markup, quotes and another direction is text in listings, and one file in paths.
    @Test(
        .proves(
            .releases,
            "Serving: Active content never runs in the service's origin (X5), odd paths are 404 or exact (R1), ranges cost no more than the file (R2), closed files are private (R3)"
        ))
    func testR1ThatListingsAreEscaped() async throws {
        let name = "a<b>&\"'\u{202E}gpj.exe"
        try await withFiles([name: Array("x".utf8)]) { web in
            let page = try await web.send("GET", "/files/kit/3.0.0/").text
            #expect(!page.contains("a<b>"))
            expectContains(page, "a&lt;b&gt;&amp;&quot;")
            let answer = try await web.send("GET", "/files/kit/3.0.0/\(PercentEncoding.encode(name))")
            #expect(answer.text == "x")
            #expect(answer["Content-Disposition"]?.contains("\u{202E}") == false)
        }
    }

    /// A small request costs at most the reading of one file.
    @Test(
        .proves(
            .releases,
            "Serving: Active content never runs in the service's origin (X5), odd paths are 404 or exact (R1), ranges cost no more than the file (R2), closed files are private (R3)"
        ),
        arguments: [
            ("bytes=0-18446744073709551616", 206), ("bytes=18446744073709551615-18446744073709551616", 416),
            ("bytes=-18446744073709551616", 206), ("bytes=5-0", 200), ("bytes=0-4,2-5", 200), ("bytes=-0", 416),
            ("bytes=0-0,0-0,0-0", 200), ("bytes=--1", 200), ("bytes=9223372036854775807-", 416), ("bytes=", 200),
            ("lines=0-1", 200), ("bytes=" + Array(repeating: "0-", count: 10_000).joined(separator: ","), 200),
        ])
    func testR2ThatNoRangeCostsMoreThanTheFile(range: String, status: Int) async throws {
        try await FileServerTests.withVersions { web in
            let answer = try await web.send("GET", Self.path, headers: [("Range", range)])
            #expect(answer.status == status, "\(range.prefix(60))")
            #expect(answer.body.count == (status == 416 ? 0 : 6))
        }
    }

    /// Files that fit into memory and files that do not.
    @Test(
        .proves(
            .releases,
            "Serving: A flipped byte is not served, is said in log, pages and metrics, and found by the scrub (R4); in the registry, too"
        ), arguments: [6, FileCache.maximumFileBytes + 1])
    func testR4ThatAFlippedBitIsNotServedAndSaid(size: Int) async throws {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
        try await withFiles(["a.bin": bytes]) { web in
            // given
            try await web.expect(200, "GET", "/files/kit/3.0.0/a.bin?1")
            var damaged = bytes
            damaged[size - 1] ^= 1
            try web.directory.write("state/files/kit/3.0.0/a.bin", damaged)
            web.log.expectErrors(containing: "damaged")
            // when
            for headers in [[], [("Range", "bytes=0-1")]] {
                let answer = try await web.send("GET", "/files/kit/3.0.0/a.bin?2", headers: headers)
                // then
                #expect(answer.status == 500)
                #expect(answer["ETag"] == nil)
                #expect(answer["Cache-Control"] == "no-store")
                #expect(!answer.text.contains("state/files"), "an outsider sees no path")
            }
            for page in ["/products/kit", "/products/kit/3.0.0"] {
                expectContains(try await web.send("GET", page).text, "a.bin is damaged")
            }
            #expect(!(try await web.send("GET", "/products/kit/1.4.2").text.contains("is damaged")))
            expectContains(try await web.send("GET", "/metrics").text, "martlet_files_damaged 1\n")
            // when: it is restored
            try web.directory.write("state/files/kit/3.0.0/a.bin", bytes)
            // then
            #expect(try await web.send("GET", "/files/kit/3.0.0/a.bin?3").body == bytes)
            expectContains(try await web.send("GET", "/metrics").text, "martlet_files_damaged 0\n")
        }
    }

    /// It is refused and logged. Only the files that `martlet doctor` names are counted.
    @Test(
        .proves(
            .releases,
            "Serving: A flipped byte is not served, is said in log, pages and metrics, and found by the scrub (R4); in the registry, too"
        ))
    func testR4ThatDamageOfWhatWasOnlyArchivedIsNotCountedAsPublished() async throws {
        try await FileServerTests.withVersions { web in
            // given
            let name = "kit-1.0.0-source.tar.gz"
            let archives = AttemptPaths("integrations/kit/1/release/1").archives
            try web.directory.write("state/\(archives)/\(name)", "x")
            web.log.expectErrors(containing: "damaged")
            // when
            try await web.expect(500, "GET", "/api/v1/bots/kit/integrations/1/artifacts/release/\(name)")
            // then
            #expect(web.site.checks.damaged.map(\.path) == ["\(web.state)/\(archives)/\(name)"])
            expectContains(try await web.send("GET", "/metrics").text, "martlet_files_damaged 0\n")
        }
    }

    /// A proxy that requests only the head does not wait until 64 GiB are read.
    @Test(
        .proves(
            .releases,
            "Serving: A flipped byte is not served, is said in log, pages and metrics, and found by the scrub (R4); in the registry, too"
        ))
    func testThatAnAnswerWithoutBytesNeedsNoneUntilDamageIsKnown() async throws {
        let size = FileCache.maximumFileBytes + 1
        try await withFiles(["a.bin": [UInt8](repeating: 7, count: size)]) { web in
            // given: unknown damage
            let path = "/files/kit/3.0.0/a.bin"
            try web.directory.write("state\(path)", [UInt8](repeating: 8, count: size))
            web.log.expectErrors(containing: "damaged")
            let tag = "\"\(Digest.sha256(of: [UInt8](repeating: 7, count: size)))\""
            let requests: [(String, [(String, String)], Int)] = [
                ("HEAD", [], 200), ("GET", [("If-None-Match", tag)], 304), ("GET", [("If-Match", "\"a\"")], 412),
                ("GET", [("Range", "bytes=\(size)-")], 416), ("HEAD", [("Range", "bytes=0-1")], 200),
            ]
            // when, then
            for (method, headers, status) in requests {
                try await web.expect(status, method, path, headers: headers)
            }
            expectContains(try await web.send("GET", "/metrics").text, "martlet_files_damaged 0\n")
            // when
            try await web.expect(500, "GET", path, headers: [("Range", "bytes=0-1")])
            // then: a failed condition says nothing about the bytes
            for (method, headers, status) in requests {
                try await web.expect(status == 412 ? 412 : 500, method, path, headers: headers)
            }
            expectContains(try await web.send("GET", "/metrics").text, "martlet_files_damaged 1\n")
        }
    }

    /// sendfile(2) does not report a file that ends too early. The connection's thread would call it again and again.
    @Test(
        .proves(.releases, "Serving: A file that is cut while it is sent ends the connection, and holds no thread up"))
    func testThatAFileThatIsCutWhileItIsSentEndsTheConnection() async throws {
        let size = 12 << 20
        try await withFiles(["big.bin": [UInt8](repeating: 7, count: size)]) { web in
            // given: a client that reads nothing until the kernel's buffers are full
            let number = try #require(LoopbackSocket.connected(to: web.port))
            defer { close(number) }
            LoopbackSocket.limitReceiving(of: number)
            LoopbackSocket.limitWaiting(of: number)
            let request = "GET /files/kit/3.0.0/big.bin HTTP/1.1\r\nHost: a\r\n\r\n"
            #expect(send(number, request, request.utf8.count, Int32(MSG_NOSIGNAL)) == request.utf8.count)
            var (waiting, rounds) = (Int32(0), 0)
            await until("the server waits for the client") {
                var now: Int32 = 0
                guard ioctl(number, UInt(FIONREAD), &now) == 0 else { return false }
                rounds = now == waiting && now > 0 ? rounds + 1 : 0
                waiting = now
                return rounds == 20
            }

            // when
            #expect(truncate("\(web.state)/files/kit/3.0.0/big.bin", 0) == 0)

            // then
            let (taken, isEnd) = await SerialQueue(label: "client").run { () -> (Int, Bool) in
                var (taken, buffer) = (0, [UInt8](repeating: 0, count: 1 << 16))
                while true {
                    let count = recv(number, &buffer, buffer.count, 0)
                    guard count > 0 else { return (taken, count == 0 || errno == ECONNRESET) }
                    taken += count
                }
            }
            #expect(isEnd)
            #expect(taken < size)
            try await web.expect(200, "GET", "/health")
        }
    }

    @Test(
        .proves(
            .releases,
            "Serving: A flipped byte is not served, is said in log, pages and metrics, and found by the scrub (R4); in the registry, too"
        ))
    func testR4ThatTheScrubFindsWhatNobodyDownloads() async throws {
        try await withFiles(["a.bin": Array("abc".utf8), "b.bin": Array("abc".utf8), "c.bin": []]) { web in
            // given
            try web.directory.write("state/files/kit/3.0.0/b.bin", "abd")
            try web.directory.directory().remove("state/files/kit/1.0.0/page.html")
            web.log.expectErrors(containing: "damaged")
            // when
            try await FileScrub(site: web.site).look()
            // then
            let places = ["1.0.0/page.html", "3.0.0/b.bin"].map { "\(web.state)/files/kit/\($0)" }
            #expect(web.site.checks.damaged.map(\.path) == places)
            // when
            try web.directory.write("state/files/kit/3.0.0/b.bin", "abc")
            try await FileScrub(site: web.site).look()
            // then
            #expect(web.site.checks.damaged.map(\.path) == [places[0]])
        }
    }

    @Test(
        .proves(
            .releases,
            "Serving: A flipped byte is not served, is said in log, pages and metrics, and found by the scrub (R4); in the registry, too"
        ))
    func testThatAVersionThatLostItsFilesIsLoggedInFewLines() async throws {
        // given: a hundred files and three more
        let files = Dictionary(uniqueKeysWithValues: (0..<103).map { ("file-\($0)", Array("abc".utf8)) })
        try await withFiles(files) { web in
            try web.directory.directory().remove("state/files/kit/3.0.0")
            web.log.expectErrors(containing: "damaged")
            // when
            try await FileScrub(site: web.site).look()
            // then: all are known, and of the last three only the number is logged
            #expect(web.site.checks.damaged.count == 103)
            let lines = web.log.lines.filter { $0.message.contains("damaged") }
            #expect(lines.count == 101)
            #expect(lines.last?.metadata == ["version": "kit 3.0.0", "count": "3"])
        }
    }
}
