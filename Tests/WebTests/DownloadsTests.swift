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

    /// A download counts only if it includes the file's last byte.
    @Test(
        .proves(
            .releases,
            "Serving: Download counts by file and version on pages, JSON index and API; by the last byte; kept through restarts"
        ),
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

    @Test(
        .proves(
            .releases,
            "Serving: Download counts by file and version on pages, JSON index and API; by the last byte; kept through restarts"
        ))
    func testThatADownloadFromTheRegistryCountsAndADescriptionDoesNot() async throws {
        try await RegistryRoutesTests.withPackage { web in
            try await web.expect(200, "GET", "/registry/acme/kit/1.4.2.zip")
            try await web.expect(200, "GET", "/files/kit/1.4.2/SHA256SUMS")
            let counts = try await web.json("/api/v1/products/kit/versions/1.4.2")
            expectContains(counts, "\"downloads\":1}")
            #expect(counts.components("\"downloads\":1").count == 3, "the file and the version")
        }
    }

    @Test(
        .proves(
            .releases,
            "Serving: Download counts by file and version on pages, JSON index and API; by the last byte; kept through restarts"
        ))
    func testThatPagesAndInterfacesShowThemAndARestartKeepsThem() async throws {
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
                try await web.send("GET", "/products/kit/1.4.2").text, "<li><b>Downloads</b> <span>2</span></li>")
            expectContains(try await web.send("GET", "/products/kit").text, "<td class=\"num\">2</td>")
            try await web.expect(200, "GET", Self.path)
        }
    }

    @Test(
        .proves(
            .releases,
            "Serving: Download counts by file and version on pages, JSON index and API; by the last byte; kept through restarts"
        ))
    func testThatReadingThemWritesNothing() async throws {
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

    /// The reader found the transaction in the store already, or did not.
    @Test(
        .proves(
            .releases,
            "Serving: Download counts by file and version on pages, JSON index and API; by the last byte; kept through restarts"
        ), arguments: [2, 5] as [Int64])
    func testThatATransactionUnderWayIsCountedOnce(found: Int64) {
        // given: two are stored, three are being stored, one arrived since
        let (product, other) = (SampleContent.kit, Name(nearest: "other"))
        let version = SemanticVersion(1, 0, 0)
        let keys = ["a", "new"].map { Downloads.Key(product: product, version: version, path: $0) }
        let others = Downloads.Key(product: other, version: version, path: "a")
        var tally = DownloadTally()
        let empty = tally.begin(of: [product], stored: [:])
        #expect(empty == nil, "nothing is to be stored")
        for key in keys + [others] { for _ in 1...3 { tally.count(key) } }
        let taken = tally.begin(of: [product], stored: [keys[0]: 2])
        #expect(taken == [keys[0]: 3, keys[1]: 3])
        let second = tally.begin(of: [product], stored: [:])
        #expect(second == nil, "one at a time")
        tally.count(keys[0])
        let turn = tally.turn
        let stored: [Downloads.Key: Int64] = found == 2 ? [keys[0]: 2] : [keys[0]: 5, keys[1]: 3]

        // when
        let counts = tally.counts(of: product, stored: stored, at: turn)

        // then
        #expect(counts == [keys[0]: 6, keys[1]: 3])
        #expect(tally.counts(of: other, stored: [:], at: turn) == [others: 3])

        // when: it ends during a read
        tally.end(isStored: found == 5)

        // then
        #expect(tally.counts(of: product, stored: stored, at: turn) == nil, "what was read is of neither side")
        #expect(tally.counts(of: product, stored: stored, at: tally.turn) == counts)
        #expect(tally.pending == (found == 5 ? [keys[0]: 1, others: 3] : [keys[0]: 4, keys[1]: 3, others: 3]))
    }

    /// It began during a read.
    @Test func testThatWhatWasReadBeforeATransactionIsNotAddedToWhatIsLeftOfIt() {
        // given
        let key = Downloads.Key(product: SampleContent.kit, version: SemanticVersion(1, 0, 0), path: "a")
        var tally = DownloadTally()
        tally.count(key)
        let turn = tally.turn
        // when
        let taken = tally.begin(of: [key.product], stored: [:])
        // then
        #expect(taken == [key: 1])
        #expect(tally.counts(of: key.product, stored: [:], at: turn) == nil)
        tally.end(isStored: true)
        #expect(tally.counts(of: key.product, stored: [:], at: turn) == nil)
        #expect(tally.counts(of: key.product, stored: [key: 1], at: tally.turn) == [key: 1])
    }

    @Test(
        .proves(
            .releases,
            "Serving: Download counts by file and version on pages, JSON index and API; by the last byte; kept through restarts"
        ))
    func testThatWhatCannotBeStoredIsCountedLater() async throws {
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
