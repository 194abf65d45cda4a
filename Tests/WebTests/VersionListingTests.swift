import Encodings
import Foundation
import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// The order of versions, and the form of a yanked one, in every view.
@Suite struct VersionListingTests {
    private func withVersions(
        _ versions: [String], _ body: @Sendable (WebFixture) async throws -> Void
    ) async throws {
        try await withWeb { web in
            let sample = SampleContent(web: web)
            try await sample.fill()
            let record = try #require(try await web.store.latestIntegration(of: SampleContent.kit))
            for version in versions { try await sample.publish(version, by: record) }
            try await body(web)
        }
    }

    private struct Versions: Decodable {
        struct Item: Decodable { let version: String }
        let items: [Item]
    }

    private struct Products: Decodable {
        struct Item: Decodable { let latest: String? }
        let items: [Item]
    }

    @Test(.proves(.releases, "Versions: what is not there says which of product, version and range is missing"))
    func testThatItSaysWhetherProductRangeOrVersionIsMissing() async throws {
        let rainbow = "repository: https://git.example/rainbow.git\n"
        let publishing =
            "\(rainbow)product: sun\ntriggers: [{ name: it, branches: [\"release/*\"], publish: { version: branch } }]\n"
        try await withWeb(bots: ["rainbow": rainbow, "sun": publishing]) { web in
            // given
            let sample = SampleContent(web: web)
            try await sample.fill()
            let cases = [
                ("sun/versions", "Nothing of sun is published yet; sun will publish it."),
                ("rainbow/versions/latest", "Nothing of rainbow is published: rainbow has no `publish` trigger."),
                ("nothing/versions", "There is no product nothing."),
                ("nothing/versions/1.0.0", "There is no product nothing."),
                ("kit/versions/~9", "No published version of kit fits ~9; the highest is 1.0.0."),
                ("kit/versions/7.7.7", "There is no published version 7.7.7 of kit."),
                ("kit/versions/new", "No version is called so"),
            ]
            for (path, sentence) in cases {
                // when
                let answer = try await web.send("GET", "/api/v1/products/\(path)")
                let page = try await web.send("GET", "/products/" + path.replacing("/versions", with: ""))
                // then
                #expect(answer.status == 404 && page.status == 404)
                expectContains(answer.text, sentence)
                expectContains(page.text, sentence)
            }
            let fetch = try await run(
                [try TestTools.builtProduct("martlet"), "fetch", "kit@~9", "--server", web.socket],
                environment: ["PATH": "/usr/bin:/bin", "HOME": web.directory.path])
            #expect(fetch.status == 66)
            expectContains(fetch.stderr, "No published version of kit fits ~9; the highest is 1.0.0.")
        }
    }

    @Test(.proves(.releases, "Versions: `martlet versions PRODUCT` lists them in precedence"))
    func testThatVersionsAreListedInTheirPrecedence() async throws {
        let published = [
            "1.10.0", "1.9.0", "2.0.0-rc.2", "2.0.0-rc.10", "2.0.0-alpha", "99999999999999999999.0.0", "1.10.0-1",
        ]
        try await withVersions(published) { web in
            // given: versions in the order of section 11 of Semantic Versioning; 1.0.0 is the sample's own
            let ordered = [
                "99999999999999999999.0.0", "2.0.0-rc.10", "2.0.0-rc.2", "2.0.0-alpha", "1.10.0", "1.10.0-1", "1.9.0",
                "1.0.0",
            ]

            // when
            let printed = try await martlet(["versions", "kit"], web)
            let listed = try JSONDecoder().decode(
                Versions.self, from: Data(try await web.json("/api/v1/products/kit/versions").utf8))
            let page = try await web.send("GET", "/products/kit").text

            // then
            #expect(
                printed.stdout.split(separator: "\n").map { String($0.prefix { $0 != " " }) } == ["VERSION"] + ordered)
            #expect(listed.items.map(\.version) == ordered)
            let places = ordered.compactMap { page.range(of: "id=\"v\($0)\"")?.lowerBound }
            #expect(places.count == ordered.count)
            #expect(places == places.sorted())
        }
    }

    @Test(.proves(.releases, "Versions: `latest` never goes back when 1.2.1 follows 1.3.0"))
    func testU6ThatLatestStaysWhereItIsWhenAnOlderLineIsPublishedLater() async throws {
        try await withVersions(["1.2.0", "1.3.0", "1.2.1"]) { web in
            for (range, version) in [("latest", "1.3.0"), ("~1.2", "1.2.1"), ("latest-pre", "1.3.0")] {
                let answer = try await web.send("GET", "/files/kit/\(range)/")
                #expect(
                    answer.headers.first { $0.name.lowercased() == "location" }?.value == "/files/kit/\(version)/",
                    "\(range)")
            }
            let products = try JSONDecoder().decode(
                Products.self, from: Data(try await web.json("/api/v1/products").utf8))
            #expect(products.items.map(\.latest) == ["1.3.0"])
        }
    }

    @Test(.proves(.releases, "Versions: A yanked version: its page says so"))
    func testThatAYankedVersionSaysSoOnItsPages() async throws {
        try await withVersions(["1.2.0", "1.3.0"]) { web in
            // given
            let before = try await web.send("GET", "/products/kit").text
            #expect(!before.contains("yanked"))

            // when
            try await web.store.yank(product: SampleContent.kit, version: SemanticVersion(1, 3, 0), at: WebFixture.now)

            // then
            let after = try await web.send("GET", "/products/kit").text
            expectContains(after, "yanked")
            expectContains(after, "Left out of <code>latest</code> and of ranges; by its name it stays fetchable.")
            expectContains(try await web.send("GET", "/products/kit/1.3.0").text, "yanked")
            #expect(try await web.send("GET", "/products/kit/1.2.0").text.contains("yanked") == false)
            expectContains(try await martlet(["versions", "kit"], web).stdout, "1.3.0 (yanked)")
        }
    }

    private struct Page: Decodable {
        struct Item: Decodable {
            let version: String
            let files: [File]
        }
        struct File: Decodable { let path: String }
        let items: [Item]
        let next: String?
    }

    /// A version can have hundreds of files, a product thousands of versions.
    @Test(
        .proves(
            .releases,
            "Registry: Listings read only the files of shown versions; versions come in pages of 50, at most 200; a product's page shows the files of 20"
        ))
    func testThatVersionsComeInPages() async throws {
        try await withVersions(["1.1.0", "1.2.0", "1.3.0+x", "1.4.0-rc.1"]) { web in
            // given
            func page(_ path: String) async throws -> Page {
                let answer = try await web.send("GET", path, headers: [("Accept", "application/json")])
                return try JSONDecoder().decode(Page.self, from: Data(answer.body))
            }
            for path in ["/api/v1/products/kit/versions", "/files/kit/"] {
                // when
                let first = try await page(path + "?limit=2")
                let second = try await page(path + "?limit=2&before=" + PercentEncoding.encode(first.next ?? ""))
                let third = try await page(path + "?limit=2&before=" + (second.next ?? ""))
                // then
                #expect(first.items.map(\.version) == ["1.4.0-rc.1", "1.3.0+x"])
                #expect(first.items.allSatisfy { $0.files.count == 2 })
                #expect(first.next == "1.3.0+x")
                #expect(second.items.map(\.version) == ["1.2.0", "1.1.0"])
                #expect(third.items.map(\.version) == ["1.0.0"])
                #expect(third.next == nil)
                for wrong in ["?before=new", "?limit=0", "?limit=x"] {
                    try await web.expect(400, "GET", path + wrong, headers: [("Accept", "application/json")])
                }
            }
        }
    }

    /// Also if there are more than one answer of the service can have.
    @Test func testThatTheCommandListsAllOfThem() async throws {
        try await withVersions([]) { web in
            // given: only rows, which are all that is listed
            let record = try #require(try await web.store.latestIntegration(of: SampleContent.kit))
            let numbers = 1...201
            for number in numbers {
                let version = try #require(SemanticVersion("2.0.\(number)"))
                _ = try await web.store.reserve(
                    VersionRequest(
                        product: SampleContent.kit, integration: record.id, commit: record.commit, ref: record.ref,
                        source: .exactly(version), onDisk: []), at: WebFixture.now)
                try await web.store.publish(
                    PublishedVersion(
                        product: SampleContent.kit, version: version, integration: record.id, files: [],
                        publishedAt: WebFixture.now), at: WebFixture.now)
            }
            // when
            let printed = try await martlet(["versions", "kit"], web).stdout.split(separator: "\n")
            // then
            let words = printed.compactMap { $0.split(separator: " ").first.map(String.init) }
            #expect(words == ["VERSION"] + numbers.reversed().map { "2.0.\($0)" } + ["1.0.0"])
        }
    }

    /// The files of the highest twenty are on the product's page, those of all versions on their own pages.
    @Test(
        .proves(
            .releases,
            "Registry: Listings read only the files of shown versions; versions come in pages of 50, at most 200; a product's page shows the files of 20"
        ))
    func testThatALongPageShowsTheFilesOfTheHighestAlone() async throws {
        try await withVersions((1...21).map { "1.0.\($0)" } + ["2.0.0-rc.1"]) { web in
            let page = try await web.send("GET", "/products/kit").text
            #expect(page.split(separator: "id=\"v").count == 24, "all 23 versions")
            #expect(page.split(separator: "Files of ").count == 21)
            expectContains(page, "Files of 1.0.3<")
            #expect(!page.contains("Files of 1.0.2<"))
            expectContains(page, "kit@~1.0")
            expectContains(try await martlet(["versions", "kit"], web).stdout, "1.0.2 ")
        }
    }

    @Test func testThatARangeIsNotYanked() async throws {
        try await withVersions(["1.2.0"]) { web in
            for range in ["~1.2", "latest", "v1.2.0"] {
                let answer = try await web.send("POST", "/api/v1/products/kit/versions/\(range)/yank", as: .admin)
                #expect(answer.status == 400)
                expectContains(answer.text, "One version is yanked, such as 1.4.2, and no range.")
            }
        }
    }
}
