import Basics
import Foundation
import Model
import Releases
import Storage
import TestSupport
import Testing

@testable import Web

@Suite struct FileServerTests {
    /// Runs a test with a product with 1.0.0, 1.4.2, 1.5.0 (yanked) and 2.0.0-beta.1.
    static func withVersions(
        anonymousMayRead: Bool = true, afterwards: (Store) async throws -> Void = { _ in },
        _ body: @Sendable (WebFixture) async throws -> Void
    ) async throws {
        try await withWeb(anonymousMayRead: anonymousMayRead, afterwards: afterwards) { web in
            let sample = SampleContent(web: web)
            try await web.store.register(
                [BotSpecification(name: SampleContent.kit, repository: SampleContent.repository)], at: WebFixture.now)
            for version in ["1.0.0", "1.4.2", "1.5.0", "2.0.0-beta.1"] {
                let record = try await sample.integrate(0, ref: "release/1", failing: [], warnings: 0, before: nil)
                try await sample.publish(version, by: record)
            }
            try await web.store.yank(
                product: SampleContent.kit, version: SemanticVersion(1, 5, 0), at: WebFixture.now)
            try await body(web)
        }
    }

    @Test(
        .proves(
            .releases,
            "Serving: `/files/`: HEAD as GET, conditions, one range, `Content-Disposition`, `Repr-Digest`, immutable caching, JSON index"
        ), .proves(.web, "The file server sends and honors ETag"))
    func testThatAFileIsSentWithItsDigest() async throws {
        try await Self.withVersions { web in
            // when
            let answer = try await web.send("GET", "/files/kit/1.4.2/kit-source.tar.gz")
            // then
            #expect(answer.status == 200)
            #expect(answer.text == "source")
            #expect(answer["ETag"] == "\"\(Digest.sha256(of: Array("source".utf8)))\"")
            // printf source | openssl dgst -sha256 -binary | base64
            #expect(answer["Repr-Digest"] == "sha-256=:Qc9nlLpCALg5xTUxVV8POZjfTLsBpNXLC5Tjyl4jlH0=:")
            #expect(answer["Cache-Control"] == "public, max-age=31536000, immutable")
            #expect(answer["Accept-Ranges"] == "bytes")
            #expect(answer["Content-Length"] == "6")
            #expect(answer["Content-Type"] == "application/gzip")
            #expect(answer["Content-Disposition"] == "attachment; filename=\"kit-source.tar.gz\"")
        }
    }

    @Test(
        .proves(
            .releases,
            "Serving: `/files/`: HEAD as GET, conditions, one range, `Content-Disposition`, `Repr-Digest`, immutable caching, JSON index"
        ))
    func testThatHEADSaysTheSameWithoutTheBody() async throws {
        try await Self.withVersions { web in
            let answer = try await web.send("HEAD", "/files/kit/1.4.2/kit-source.tar.gz")
            #expect(answer.status == 200)
            #expect(answer.body.isEmpty)
            let whole = try await web.send("GET", "/files/kit/1.4.2/kit-source.tar.gz")
            #expect(answer.lines(without: "Date") == whole.lines(without: "Date"))
            #expect(answer["Content-Length"] == "6")
        }
    }

    /// RFC 9110, section 14.2: only GET supports ranges.
    @Test(
        .proves(
            .releases,
            "Serving: `/files/`: HEAD as GET, conditions, one range, `Content-Disposition`, `Repr-Digest`, immutable caching, JSON index"
        ), arguments: ["bytes=1-3", "bytes=9-"])
    func testThatHEADKnowsNoRange(range: String) async throws {
        try await Self.withVersions { web in
            let headers = [("Range", range)]
            let archive = "/api/v1/bots/kit/integrations/1/artifacts/release/kit-1.0.0-source.tar.gz"
            let log = "/api/v1/bots/kit/integrations/1/log/debug"
            for path in ["/files/kit/1.4.2/kit-source.tar.gz", archive, log] {
                // when
                let whole = try await web.send("HEAD", path)
                let answer = try await web.send("HEAD", path, headers: headers)
                // then
                #expect(answer.status == 200, "\(path)")
                #expect(answer.lines(without: "Date") == whole.lines(without: "Date"), "\(path)")
                #expect(answer["Content-Range"] == nil)
            }
        }
    }

    @Test(
        .proves(
            .releases,
            "Serving: `/files/`: HEAD as GET, conditions, one range, `Content-Disposition`, `Repr-Digest`, immutable caching, JSON index"
        ), .proves(.web, "The file server honors Range"))
    func testThatARangeIsServed() async throws {
        let rows: [(String, Int, String, String?)] = [
            ("bytes=1-3", 206, "our", "bytes 1-3/6"), ("bytes=-2", 206, "ce", "bytes 4-5/6"),
            ("bytes=4-", 206, "ce", "bytes 4-5/6"), ("bytes=0-0,2-3", 200, "source", nil),
            ("bytes=9-", 416, "", "bytes */6"),
            ("bytes=18446744073709551616-", 416, "", "bytes */6"), ("bytes=3-1", 200, "source", nil),
        ]
        try await Self.withVersions { web in
            for (range, status, body, contentRange) in rows {
                let answer = try await web.send(
                    "GET", "/files/kit/1.4.2/kit-source.tar.gz", headers: [("Range", range)])
                #expect(answer.status == status)
                #expect(answer.text == body)
                #expect(answer["Content-Range"] == contentRange)
            }
        }
    }

    @Test(
        .proves(
            .releases,
            "Serving: `/files/`: HEAD as GET, conditions, one range, `Content-Disposition`, `Repr-Digest`, immutable caching, JSON index"
        ), .proves(.web, "The file server sends and honors ETag"))
    func testThatWhatIsThereIsNotSentAgain() async throws {
        try await Self.withVersions { web in
            let path = "/files/kit/1.4.2/kit-source.tar.gz"
            let first = try await web.send("GET", path)
            let tag = try #require(first["ETag"])
            let date = try #require(first["Last-Modified"])
            let again = try await web.send("GET", path, headers: [("If-None-Match", tag)])
            #expect(again.status == 304)
            #expect(again.body.isEmpty)
            try await web.expect(304, "GET", path, headers: [("If-Modified-Since", date)])
            let part = [("Range", "bytes=0-1"), ("If-Range", "\"other\"")]
            try await web.expect(200, "GET", path, headers: part)
            try await web.expect(412, "GET", path, headers: [("If-Match", "\"other\"")])
        }
    }

    @Test(.proves(.web, "The file server resolves `latest` and `~1.4`, and archives' names without their version"))
    func testThatARangeLeadsToTheVersion() async throws {
        let rows: [(String, String)] = [
            ("latest", "1.4.2"), ("latest-pre", "2.0.0-beta.1"), ("~1.4", "1.4.2"), ("%7E1.4", "1.4.2"),
            ("^1", "1.4.2"),
            ("%5E1", "1.4.2"), ("~1.0", "1.0.0"),
        ]
        try await Self.withVersions { web in
            for (range, version) in rows {
                let answer = try await web.send("GET", "/files/kit/\(range)/kit-source.tar.gz")
                #expect(answer.status == 302)
                #expect(answer["Location"] == "/files/kit/\(version)/kit-source.tar.gz")
                #expect(answer["Cache-Control"] == "no-cache")
                #expect(try await web.send("GET", "/files/kit/\(range)/")["Location"] == "/files/kit/\(version)/")
            }
        }
    }

    /// Archives have their version in their names. A client that asks for the latest does not know it, or copied another one.
    @Test(.proves(.web, "The file server resolves `latest` and `~1.4`, and archives' names without their version"))
    func testThatAnArchiveIsFoundWithoutItsVersion() async throws {
        try await Self.withVersions { web in
            // given: the usual names of archives
            let sample = SampleContent(web: web)
            let record = try await sample.integrate(1, ref: "release/3", failing: [], warnings: 0, before: nil)
            let names = ["kit-3.0.0-source.tar.gz", "kit-3.0.0-release-x86_64.tar.zst", "notes.txt"]
            try await sample.publish(
                "3.0.0", by: record,
                files: Dictionary(uniqueKeysWithValues: names.map { ($0, Array($0.utf8)) }))
            let rows: [(String, String?)] = [
                ("kit-3.0.0-source.tar.gz", names[0]), ("kit-latest-source.tar.gz", names[0]),
                ("kit-2.9.1-source.tar.gz", names[0]), ("kit-%5E3-source.tar.gz", names[0]),
                ("kit-2.0.0-beta.1-source.tar.gz", names[0]), ("kit-latest-release-x86_64.tar.zst", names[1]),
                ("notes.txt", names[2]), ("SHA256SUMS", "SHA256SUMS"), ("kit-source.tar.gz", nil),
                ("kit--source.tar.gz", nil), ("kit-x-source.tar.gz", nil), ("lib-latest-source.tar.gz", nil),
                ("kit-latest-notes.txt", nil), ("none", nil),
            ]
            for (asked, name) in rows {
                // when
                let answer = try await web.send("GET", "/files/kit/latest/\(asked)")
                // then
                #expect(answer.status == (name == nil ? 404 : 302), "\(asked)")
                #expect(answer["Location"] == name.map { "/files/kit/3.0.0/\($0)" }, "\(asked)")
            }
            expectContains(
                try await web.send("GET", "/files/kit/latest/none").text,
                "kit 3.0.0 has no file none; it has kit-3.0.0-release-x86_64.tar.zst, kit-3.0.0-source.tar.gz, notes.txt."
            )
        }
    }

    /// `cp -al`, rsnapshot and hardlink(1) give published files second names.
    @Test(
        .proves(
            .releases, "Serving: Published files that have second names (`cp -al`) are served, verified and uploaded"))
    func testThatAFileWithASecondNameIsServedAndWell() async throws {
        try await Self.withVersions { web in
            // given
            try await runExpectingSuccess([
                "cp", "-al", web.directory.path("state/files"), web.directory.path("backup"),
            ])
            // when, then
            for name in ["kit-source.tar.gz", "manifest.json", "SHA256SUMS"] {
                try await web.expect(200, "GET", "/files/kit/1.4.2/\(name)")
            }
            try await FileScrub(site: web.site).look()
            #expect(web.site.checks.damaged.isEmpty)
        }
    }

    /// The files that prove others must not decay unnoticed either. Otherwise their readers would be the first to notice.
    @Test(
        .proves(
            .releases,
            "Serving: A damaged manifest, provenance, `SHA256SUMS` or signature is not served as good, is found by the scrub, and is distinguished from the others (R4)"
        ), .program("ssh-keygen"), arguments: ["manifest.json", "provenance.json", "SHA256SUMS", "SHA256SUMS.sig"])
    func testR4ThatADamagedDescriptionIsNotServedAndIsSaid(name: String) async throws {
        try await Self.withVersions { web in
            // given
            let sample = SampleContent(web: web)
            let record = try await sample.integrate(1, ref: "release/3", failing: [], warnings: 0, before: nil)
            try await runExpectingSuccess(
                ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", web.directory.path("key")])
            try await sample.publish(
                "3.0.0", by: record, signedBy: try SigningKey(openSSH: web.directory.text("key")))
            let (place, path) = ("state/files/kit/3.0.0/\(name)", "/files/kit/3.0.0/\(name)")
            let whole = try await web.send("GET", path)
            #expect(whole.status == 200)
            #expect(whole["Cache-Control"] == "public, max-age=60")
            web.log.expectErrors(containing: "is not what was recorded")
            web.log.expectErrors(containing: "damaged")

            // when: one bit in the middle is flipped
            var bytes = whole.body
            bytes[bytes.count / 2] ^= 1
            try AtomicFile.write(bytes, to: web.directory.path(place))

            // then: it alone is damaged, at once and in the daily check
            try await web.expect(500, "GET", path)
            for other in VersionCheck.descriptions where other != name {
                try await web.expect(200, "GET", "/files/kit/3.0.0/\(other)")
            }
            #expect(web.site.checks.damaged.map(\.path) == [web.directory.path(place)])
            web.site.checks.isWell(web.directory.path(place))
            try await FileScrub(site: web.site).look()
            #expect(web.site.checks.damaged.map(\.path) == [web.directory.path(place)])

            // when: it is removed, and then restored
            try FileManager.default.removeItem(atPath: web.directory.path(place))
            try await web.expect(404, "GET", path)
            try await FileScrub(site: web.site).look()
            #expect(web.site.checks.damaged.map(\.path) == [web.directory.path(place)])
            try AtomicFile.write(whole.body, to: web.directory.path(place))
            let again = try await web.send("GET", path)

            // then
            #expect(again.body == whole.body)
            #expect(again["Repr-Digest"] == whole["Repr-Digest"])
            try await FileScrub(site: web.site).look()
            #expect(web.site.checks.damaged.isEmpty)
        }
    }

    /// Facts about thousands of versions are cached. If each version's directory stayed open, each would need a descriptor.
    @Test(
        .proves(
            .releases,
            "Serving: A damaged manifest, provenance, `SHA256SUMS` or signature is not served as good, is found by the scrub, and is distinguished from the others (R4)"
        ))
    func testThatNoDirectoryOfAVersionStaysOpen() async throws {
        try await Self.withVersions { web in
            // when
            for name in ["manifest.json", "SHA256SUMS"] { try await web.expect(200, "GET", "/files/kit/1.4.2/\(name)") }
            try await FileScrub(site: web.site).look()
            // then: a sent file is closed a moment after its last byte arrived
            try await until("nothing of a version is open") {
                let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
                    try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
                }
                return !open.contains { $0.hasPrefix(web.directory.path("state/files/kit/1")) }
            }
        }
    }

    @Test(.proves(.versions, "Yanked versions stay fetchable and leave ranges"))
    func testThatAYankedVersionStaysFetchable() async throws {
        try await Self.withVersions { web in
            try await web.expect(200, "GET", "/files/kit/1.5.0/kit-source.tar.gz")
        }
    }

    @Test(
        .proves(
            .releases,
            "Serving: Active content never runs in the service's origin (X5), odd paths are 404 or exact (R1), ranges cost no more than the file (R2), closed files are private (R3)"
        ))
    func testR1ThatNothingElseIsThere() async throws {
        let rows: [String] = [
            "/files/kit/1.4.2/../1.0.0/kit-source.tar.gz", "/files/kit/1.4.2/..%2f1.0.0/kit-source.tar.gz",
            "/files/kit/1.4.2/%252e%252e/x", "/files/kit/1.4.2/..%5cx", "/files/kit/1.4.2/%c0%ae%c0%ae/x",
            "/files//etc/passwd",
            "//etc/passwd", "/files/kit/1.4.2//kit-source.tar.gz", "/files/kit/1.4.2/kit-source.tar.gz%00",
            "/files/kit/1.4.2/kit-source.tar.gz.", "/files/kit/1.4.2/KIT-source.tar.gz", "/files/kit/1.4.2/CON",
            "/files/kit/01.4.2/kit-source.tar.gz", "/files/kit/v1.4.2/kit-source.tar.gz",
            "/files/Kit/1.4.2/kit-source.tar.gz",
            "/files/kit/~9/kit-source.tar.gz", "/files/kit/1.4.2/hidden", "/files/kit/1.4.2/kit-source.tar.gz/x",
            "/files/..%2f..%2fmartlet.sqlite", "/files/kit/1.4.2/\u{202E}x", "/files/kit/1.4.2/\\x",
            "/files/kit/1.4.2/%2f%2fetc%2fpasswd", "/files/kit/1.4.2/x%0d%0aSet-Cookie:%20a=b",
            "/files/kit/1.4.2/" + String(repeating: "a", count: 256), "/files/kit/1.4.2/%E2%80%AEx",
            "/files/kit/1.4.2/" + String(repeating: "a/", count: 2100) + "a",
        ]
        try await Self.withVersions { web in
            for path in rows {
                // given: a file that no manifest lists, and a link that leads out
                try web.directory.write("state/files/kit/1.4.2/hidden", "secret")
                // when
                let answer = try await web.send("GET", path)
                // then
                #expect([400, 404].contains(answer.status), "\(path): \(answer.status)")
                #expect(!answer.text.contains("source") && !answer.text.contains("secret"))
            }
        }
    }

    @Test func testThatALinkInTheTreeIsNotFollowed() async throws {
        try await Self.withVersions { web in
            web.log.expectErrors(containing: "request failed")
            let path = "state/files/kit/1.4.2/kit-source.tar.gz"
            try web.directory.directory().remove(path)
            try web.directory.directory().makeLink(path, target: Array("/etc/hostname".utf8))
            try await web.expect(500, "GET", "/files/kit/1.4.2/kit-source.tar.gz")
            let line = try #require(web.log.lines.first { $0.message == "request failed" })
            #expect(line.metadata["from"] == "127.0.0.1")
        }
    }

    @Test(
        .proves(
            .releases,
            "Serving: Active content never runs in the service's origin (X5), odd paths are 404 or exact (R1), ranges cost no more than the file (R2), closed files are private (R3)"
        ))
    func testR3ThatNoSharedCacheKeepsWhatNeedsAToken() async throws {
        try await Self.withVersions(anonymousMayRead: false) { web in
            let path = "/files/kit/1.4.2/kit-source.tar.gz"
            let answer = try await web.send("GET", path, as: .viewer)
            #expect(answer["Cache-Control"] == "private, max-age=31536000, immutable")
            #expect(answer["Vary"] == "Authorization, Cookie")
            #expect(try await web.send("GET", "/", as: .viewer)["Cache-Control"] == "no-store")
            try await web.expect(401, "GET", path)
        }
    }

    @Test(
        .proves(
            .releases,
            "Serving: `/files/`: HEAD as GET, conditions, one range, `Content-Disposition`, `Repr-Digest`, immutable caching, JSON index"
        ), .proves(.web, "The file server has directory pages"))
    func testThatDirectoriesAreListed() async throws {
        try await Self.withVersions { web in
            let json = [("Accept", "application/json")]
            expectContains(try await web.send("GET", "/files/").text, "href=\"/files/kit/\"")
            expectContains(try await web.send("GET", "/files/kit/").text, "href=\"/files/kit/2.0.0-beta.1/\"")
            let page = try await web.send("GET", "/files/kit/1.4.2/").text
            expectContains(page, "href=\"/files/kit/1.4.2/SHA256SUMS\"")
            let list = try await web.send("GET", "/files/kit/", headers: json)
            #expect(list["Content-Type"] == "application/json; charset=utf-8")
            expectContains(list.text, "\"version\":\"1.5.0\"")
            expectContains(list.text, "\"yanked\":true")
            #expect(try await web.send("GET", "/files/kit")["Location"] == "/files/kit/")
            #expect(try await web.send("GET", "/files/kit/1.4.2")["Location"] == "/files/kit/1.4.2/")
            let sums = try await web.send("GET", "/files/kit/1.4.2/SHA256SUMS")
            expectContains(sums.text, "  kit-source.tar.gz\n")
            #expect(sums["Content-Disposition"] == nil)
        }
    }

    /// The file is larger than several chunks, so that streaming is tested.
    @Test(
        .proves(
            .releases,
            "Serving: `/files/`: HEAD as GET, conditions, one range, `Content-Disposition`, `Repr-Digest`, immutable caching, JSON index"
        ))
    func testThatALargeFileArrivesWhole() async throws {
        try await Self.withVersions { web in
            let sample = SampleContent(web: web)
            let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
            let record = try await sample.integrate(1, ref: "release/3", failing: [], warnings: 0, before: nil)
            try await sample.publish("3.0.0", by: record, files: ["big.bin": bytes])
            #expect(try await web.send("GET", "/files/kit/3.0.0/big.bin").body == bytes)
            let part = try await web.send(
                "GET", "/files/kit/3.0.0/big.bin", headers: [("Range", "bytes=262100-1000000")])
            #expect(part.body == Array(bytes[262_100...1_000_000]))
        }
    }
}
