import Basics
import Model
import Storage
import TestSupport
import Testing

@testable import Web

@Suite struct DownloadsTests {
    private static let path = "/files/kit/1.4.2/kit-source.tar.gz"

    private func count(_ web: WebFixture) async throws -> Int64 {
        let version = try #require(SemanticVersion("1.4.2"))
        let record = try #require(try await web.store.versions(of: SampleContent.kit).first { $0.version == version })
        return try await web.site.downloads.counts(of: SampleContent.kit).of("kit-source.tar.gz", in: record)
    }

    /// One that brings the file's last byte counts, no other.
    @Test(
        arguments: [
            ("GET", [], 1), ("HEAD", [], 0), ("GET", [("Range", "bytes=0-2")], 0), ("GET", [("Range", "bytes=3-")], 1),
            ("GET", [("Range", "bytes=9-")], 0), ("GET", [("If-None-Match", "*")], 0),
            ("GET", [("If-Match", "\"a\"")], 0),
        ] as [(String, [(String, String)], Int64)])
    func testThatTheLastByteCounts(method: String, headers: [(String, String)], expected: Int64) async throws {
        try await FileServerTests.withVersions { web in
            _ = try await web.send(method, Self.path, headers: headers)
            #expect(try await count(web) == expected)
        }
    }

    @Test func testThatADownloadFromTheRegistryCountsAndADescriptionDoesNot() async throws {
        try await RegistryRoutesTests.withPackage { web in
            try await web.expect(200, "GET", "/registry/acme/kit/1.4.2.zip")
            try await web.expect(200, "GET", "/files/kit/1.4.2/SHA256SUMS")
            let counts = try await web.json("/api/v1/products/kit/versions/1.4.2")
            expectContains(counts, "\"downloads\":1}")
            #expect(counts.components("\"downloads\":1").count == 3, "the file and the version")
        }
    }

    @Test func testThatPagesAndInterfacesShowThemAndARestartKeepsThem() async throws {
        let version = try #require(SemanticVersion("1.4.2"))
        try await FileServerTests.withVersions { store in
            // then
            let kept = try await store.downloads(of: SampleContent.kit)
            #expect(
                kept == [
                    DownloadCount(product: SampleContent.kit, version: version, path: "kit-source.tar.gz", count: 3)
                ], "what was counted last is stored when the service stops")
        } _: { web in
            // when
            for _ in 1...2 { try await web.expect(200, "GET", Self.path) }
            // then
            let json = [("Accept", "application/json")]
            for path in ["/files/kit/", "/files/kit/1.4.2/", "/api/v1/products/kit/versions"] {
                expectContains(try await web.send("GET", path, headers: json).text, "\"downloads\":2")
            }
            expectContains(
                try await web.send("GET", "/products/kit/1.4.2").text, "<div><dt>Downloads</dt><dd>2</dd></div>")
            expectContains(try await web.send("GET", "/products/kit").text, "<td class=\"num\">2</td>")
            try await web.expect(200, "GET", Self.path)
        }
    }

    @Test func testThatReadingThemWritesNothing() async throws {
        try await FileServerTests.withVersions { web in
            // given
            let key = Downloads.Key(
                product: SampleContent.kit, version: try #require(SemanticVersion("1.4.2")), path: "kit-source.tar.gz")
            let downloads = Downloads(store: web.store, logger: web.log.logger)
            downloads.count(key)
            await downloads.flush()
            downloads.count(key)
            let record = try #require(
                try await web.store.versions(of: SampleContent.kit).first { $0.version == key.version })
            // when
            let counts = try await downloads.counts(of: SampleContent.kit)
            // then
            #expect(counts.of("kit-source.tar.gz", in: record) == 2)
            #expect(downloads.pending == [key: 1])
            #expect(try await web.store.downloads(of: SampleContent.kit).map(\.count) == [1])
            #expect(try await downloads.counts(of: Name(nearest: "other")).of(record) == 0)
        }
    }

    @Test func testThatWhatCannotBeStoredIsCountedLater() async throws {
        try await FileServerTests.withVersions { web in
            let store = try Store.open(path: web.directory.path("other.sqlite"))
            let downloads = Downloads(store: store, logger: web.log.logger)
            let key = Downloads.Key(
                product: SampleContent.kit, version: SemanticVersion(1, 0, 0), path: "kit-source.tar.gz")
            // given
            try store.close()
            web.log.expectErrors(containing: "could not be counted")
            downloads.count(key)
            // when
            await downloads.flush()
            downloads.count(key)
            // then
            #expect(downloads.pending == [key: 2])
        }
    }
}

extension String {
    fileprivate func components(_ separator: String) -> [Substring] {
        split(separator: separator, omittingEmptySubsequences: false)
    }
}
