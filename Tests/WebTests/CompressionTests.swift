import Foundation
import Model
import TestSupport
import Testing

@testable import Web

@Suite struct CompressionTests {
    private static let accepting = [("Accept-Encoding", "gzip, deflate, br, zstd")]

    /// RFC 9110, section 12.5.3, with the members that its grammar allows.
    @Test(
        arguments: [
            (nil, false), ("", false), ("gzip", true), ("GZIP", true), ("x-gzip", true), ("*", true), ("br", false),
            ("gzip;q=0", false), ("gzip;q=0.000", false), ("*;q=0", false), ("gzip;q=0.001", true),
            ("gzip ; q=0.5", true),
            ("identity;q=0.5, gzip;q=0.4", false), ("identity;q=0.4, gzip;q=0.4", true),
            ("identity, gzip;q=0.9", false),
            ("gzip;q=0, *", false), ("br, *;q=0.1", true), ("gzip;q=2", false), ("gzip;q=nan", false),
            (",,;q=1", false),
            ("gzip;q=1, gzip;q=0", false),
        ] as [(String?, Bool)])
    func testThatTheClientsWeightsDecide(header: String?, isCompressed: Bool) {
        #expect(AcceptedCodings(header).prefersGzip == isCompressed)
    }

    @Test(
        .proves(
            .web,
            "HTML, JSON and logs are compressed with gzip where the client accepts it; each form has its own `ETag`"),
        .program("gzip"), arguments: ["/docs/guide/recipe", "/openapi.json", "/style.css"])
    func testThatAnAnswerIsTheSameCompressed(path: String) async throws {
        try await withWeb { web in
            // given
            let whole = try await web.send("GET", path)
            // when
            let coded = try await web.send("GET", path, headers: Self.accepting)
            let head = try await web.send("HEAD", path, headers: Self.accepting)
            // then
            #expect(whole["Content-Encoding"] == nil)
            #expect(coded["Content-Encoding"] == "gzip")
            #expect(try await Self.unpacked(coded.body, web) == whole.body)
            #expect(coded.body.count * 2 < whole.body.count, "\(coded.body.count) of \(whole.body.count)")
            for answer in [whole, coded] { #expect(answer["Vary"]?.contains("Accept-Encoding") == true) }
            #expect(head.lines(without: "Date") == coded.lines(without: "Date"))
            #expect(head.body.isEmpty)
        }
    }

    @Test(.program("gzip")) func testThatALogIsCompressedButNotItsRanges() async throws {
        try await withWeb { web in
            // given
            let sample = SampleContent(web: web)
            try await sample.fill()
            let log = String(repeating: "compiling a file, and another one\n", count: 20_000)
            try web.directory.write("state/integrations/kit/1/debug/1/log", log)
            let path = "/api/v1/bots/kit/integrations/1/log/debug"
            // when
            let coded = try await web.send("GET", path, headers: Self.accepting)
            let part = try await web.send("GET", path, headers: Self.accepting + [("Range", "bytes=10-1999")])
            // then
            #expect(coded["Content-Encoding"] == "gzip")
            #expect(coded["Accept-Ranges"] == nil)
            #expect(try await Self.unpacked(Self.dechunked(coded.body), web) == [UInt8](log.utf8))
            #expect(part.status == 206)
            #expect(part["Content-Encoding"] == nil)
            #expect(part.body == Array([UInt8](log.utf8)[10..<2000]))
        }
    }

    /// RFC 9110, section 8.8.3.3: each form has a tag of its own, and a client that has one form is told so.
    @Test func testThatEachFormHasItsOwnTag() async throws {
        try await withWeb { web in
            // given
            let sample = SampleContent(web: web)
            try await sample.fill()
            let path = "/api/v1/bots/kit/integrations/1/issues.sarif"
            let whole = try #require(try await web.send("GET", path)["ETag"])
            let coded = try #require(try await web.send("GET", path, headers: Self.accepting)["ETag"])
            #expect(coded == whole.dropLast() + "-gzip\"")
            // when
            for (tag, headers, status) in [
                (coded, Self.accepting, 304), (whole, Self.accepting, 304), (whole, [], 304), (coded, [], 200),
                ("\"other\", \(coded)", Self.accepting, 304), ("\"other-gzip\"", Self.accepting, 200),
            ] {
                let answer = try await web.send("GET", path, headers: headers + [("If-None-Match", tag)])
                // then
                #expect(answer.status == status, "\(tag) \(headers)")
                if status == 304 {
                    #expect(tag.hasSuffix(answer["ETag"] ?? "none"), "\(tag)")
                    #expect(answer["Vary"]?.contains("Accept-Encoding") == true)
                }
            }
        }
    }

    @Test func testThatWhatIsSmallOrPackedOrFollowedStaysAsItIs() async throws {
        try await withWeb { web in
            // given
            let sample = SampleContent(web: web)
            try await sample.fill()
            // when
            for path in ["/health", "/files/kit/1.0.0/kit-source.tar.gz", "/icon.svg"] {
                let answer = try await web.send("GET", path, headers: Self.accepting)
                // then
                #expect(answer.status == 200, "\(path)")
                #expect(answer["Content-Encoding"] == nil, "\(path)")
            }
            #expect(!ContentCoding.isCompressible("text/event-stream"))
        }
    }

    @Test(
        .proves(
            .badInput,
            "A page that another site asks for with a user's cookies is never compressed (BREACH, CVE-2013-3587)"),
        arguments: [
            (nil, nil, true), (nil, "cross-site", true), ("martlet=1", "same-origin", true),
            ("martlet=1", "none", true),
            ("martlet=1", "cross-site", false), ("martlet=1", "same-site", false), ("martlet=1", nil, false),
        ] as [(String?, String?, Bool)])
    func testThatASecretDoesNotShowInThePagesSize(cookie: String?, site: String?, isCompressed: Bool) async throws {
        try await withWeb { web in
            // given
            var headers = Self.accepting
            if let cookie { headers.append(("Cookie", cookie)) }
            if let site { headers.append(("Sec-Fetch-Site", site)) }
            // when
            let answer = try await web.send("GET", "/docs/guide/recipe", headers: headers)
            // then
            #expect((answer["Content-Encoding"] == "gzip") == isCompressed)
        }
    }

    /// Undoes `Transfer-Encoding: chunked`.
    private static func dechunked(_ bytes: [UInt8]) -> [UInt8] {
        var (rest, body) = (bytes[...], [UInt8]())
        while let end = rest.firstIndex(of: UInt8(ascii: "\r")),
            let count = Int(String(decoding: rest[..<end], as: UTF8.self), radix: 16), count > 0
        {
            body += rest[(end + 2)..<(end + 2 + count)]
            rest = rest[(end + 4 + count)...]
        }
        return body
    }

    private static func unpacked(_ bytes: [UInt8], _ web: WebFixture) async throws -> [UInt8] {
        let path = web.directory.path("answer.gz")
        try Data(bytes).write(to: URL(filePath: path))
        let result = try await run(["gzip", "-dk", path])
        #expect(result.status == 0, "\(result.stderr)")
        defer { try? FileManager.default.removeItem(atPath: web.directory.path("answer")) }
        return Array(try Data(contentsOf: URL(filePath: web.directory.path("answer"))))
    }
}
