import Foundation
import Model
import Storage
import TestSupport
import Testing

@testable import Web

#if canImport(FoundationXML)
    import FoundationXML
#endif

@Suite(.proves(.releases, "Registry: Atom and JSON feeds a product"))
struct FeedsTests {
    private func withFeed(_ body: @Sendable (WebFixture) async throws -> Void) async throws {
        try await withWeb { web in
            let sample = SampleContent(web: web)
            try await web.store.register(
                [BotSpecification(name: SampleContent.kit, repository: SampleContent.repository)], at: WebFixture.now)
            let record = try await sample.integrate(0, ref: "release/<1&2>", failing: [], warnings: 0, before: nil)
            for version in ["1.0.0", "1.4.2", "1.5.0+build.7"] { try await sample.publish(version, by: record) }
            try await web.store.yank(
                product: SampleContent.kit, version: SemanticVersion(1, 4, 2), at: WebFixture.now)
            try await body(web)
        }
    }

    /// RFC 4287, sections 4.1.1 and 4.1.2: the required elements of a feed and an entry.
    @Test func testThatTheAtomFeedIsWholeAndWellFormed() async throws {
        try await withFeed { web in
            // when
            let answer = try await web.send("GET", "/products/kit/feed.atom")
            // then
            #expect(answer.status == 200)
            #expect(answer["Content-Type"] == "application/atom+xml; charset=utf-8")
            let document = try AtomReader.read(answer.body)
            #expect(document.count("feed") == 1)
            #expect(document.count("entry") == 3)
            #expect(document.count("id") == 4 && document.count("title") == 4 && document.count("updated") == 4)
            #expect(document.count("author") == 1)
            #expect(
                document.texts("id") == [
                    "http://ci.example/products/kit", "http://ci.example/products/kit/1.5.0%2Bbuild.7",
                    "http://ci.example/products/kit/1.4.2", "http://ci.example/products/kit/1.0.0",
                ])
            #expect(document.texts("title") == ["kit", "kit 1.5.0+build.7", "kit 1.4.2 (yanked)", "kit 1.0.0"])
            #expect(document.texts("updated").allSatisfy { $0 == "2026-03-01T12:00:00.000Z" })
            #expect(document.texts("summary").first == "2 files, made of 111111111111 on release/<1&2> by kit#1.")
        }
    }

    /// jsonfeed.org/version/1.1
    @Test func testThatTheJSONFeedIsWhole() async throws {
        try await withFeed { web in
            // when
            let answer = try await web.send("GET", "/products/kit/feed.json")
            // then
            #expect(answer["Content-Type"] == "application/feed+json")
            let feed = try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
            #expect(feed["version"] as? String == "https://jsonfeed.org/version/1.1")
            #expect(feed["title"] as? String == "kit")
            #expect(feed["feed_url"] as? String == "http://ci.example/products/kit/feed.json")
            let items = try #require(feed["items"] as? [[String: Any]])
            #expect(items.map { $0["id"] as? String }.last == "http://ci.example/products/kit/1.0.0")
            #expect(items.map { $0["title"] as? String } == ["kit 1.5.0+build.7", "kit 1.4.2 (yanked)", "kit 1.0.0"])
            let files = try #require(items.last?["attachments"] as? [[String: Any]])
            #expect(
                files.map { $0["url"] as? String } == [
                    "http://ci.example/files/kit/1.0.0/kit-source.tar.gz",
                    "http://ci.example/files/kit/1.0.0/page.html",
                ])
            #expect(files.map { $0["size_in_bytes"] as? Int } == [6, 3])
        }
    }

    @Test(arguments: ["atom", "json"]) func testThatWhoHasItIsNotSentItAgain(kind: String) async throws {
        try await withFeed { web in
            let path = "/products/kit/feed.\(kind)"
            let tag = try #require(try await web.send("GET", path)["ETag"])
            let again = try await web.send("GET", path, headers: [("If-None-Match", tag)])
            #expect(again.status == 304)
            #expect(again.body.isEmpty)
            #expect(again["ETag"] == tag)
            // when something changed
            try await web.store.yank(
                product: SampleContent.kit, version: SemanticVersion(1, 0, 0), at: WebFixture.now)
            // then
            try await web.expect(200, "GET", path, headers: [("If-None-Match", tag)])
            try await web.expect(404, "GET", "/products/nothing/feed.\(kind)")
        }
    }

    /// RFC 4287, section 4.2.15: readers use this element when a title changes.
    @Test func testThatAYankedVersionIsUpdated() async throws {
        try await withFeed { web in
            // when
            let later = Timestamp(millisecondsSinceEpoch: WebFixture.now.millisecondsSinceEpoch + 60_000)
            try await web.store.yank(product: SampleContent.kit, version: SemanticVersion(1, 0, 0), at: later)
            // then
            let document = try AtomReader.read(try await web.send("GET", "/products/kit/feed.atom").body)
            #expect(
                document.texts("updated") == [
                    "2026-03-01T12:01:00.000Z", "2026-03-01T12:00:00.000Z", "2026-03-01T12:00:00.000Z",
                    "2026-03-01T12:01:00.000Z",
                ])
            #expect(document.texts("published").allSatisfy { $0 == "2026-03-01T12:00:00.000Z" })
            let json = try await web.send("GET", "/products/kit/feed.json").text
            #expect(json.contains("\"date_modified\":\"2026-03-01T12:01:00.000Z\""))
        }
    }

    @Test(
        .proves(
            .web, "A bot has feeds of its integrations, Atom and JSON Feed, also of one branch or of failures alone"))
    func testThatABotHasFeedsOfItsIntegrations() async throws {
        try await withWeb { web in
            // given
            try await SampleContent(web: web).fill()
            // when
            let document = try AtomReader.read(try await web.send("GET", "/bots/kit/feed.atom").body)
            let json = try await web.send("GET", "/bots/kit/feed.json?branch=main")
            let failed = try AtomReader.read(try await web.send("GET", "/bots/kit/feed.atom?failed").body)
            // then
            #expect(
                document.texts("title") == [
                    "kit", "kit#3 succeeded: Say what 1.0 is",
                    "kit#2 warnings: Skip empty lines instead of trapping on them",
                    "kit#1 test-failures: Read the header before the body",
                ])
            #expect(document.texts("id").last == "http://ci.example/bots/kit/1")
            #expect(document.count("author") == 1 && document.count("updated") == 4 && document.count("published") == 3)
            #expect(document.texts("summary").last?.contains("by Ada Okafor") == true)
            #expect(failed.texts("title") == ["kit", "kit#1 test-failures: Read the header before the body"])
            let feed = try #require(try JSONSerialization.jsonObject(with: Data(json.body)) as? [String: Any])
            #expect(feed["home_page_url"] as? String == "http://ci.example/bots/kit")
            #expect((feed["items"] as? [[String: Any]])?.count == 2)
            let tag = try #require(json["ETag"])
            try await web.expect(304, "GET", "/bots/kit/feed.json?branch=main", headers: [("If-None-Match", tag)])
            try await web.expect(404, "GET", "/bots/nothing/feed.json")
        }
    }

    @Test func testThatNoCharacterBreaksTheDocument() {
        #expect(FeedDocument.xml("a<b>&\"c\" \u{1}\u{FFFE}é") == "a&lt;b&gt;&amp;&quot;c&quot; \u{FFFD}\u{FFFD}é")
    }
}

/// A parser that collects the elements of a feed, by name.
private final class AtomReader: NSObject, XMLParserDelegate {
    private var found: [(name: String, text: String)] = []
    private var open: [Int] = []

    static func read(_ bytes: [UInt8]) throws -> AtomReader {
        let reader = AtomReader()
        let parser = XMLParser(data: Data(bytes))
        parser.delegate = reader
        try #require(parser.parse(), "\(String(describing: parser.parserError))")
        return reader
    }

    func count(_ name: String) -> Int { found.count { $0.name == name } }
    func texts(_ name: String) -> [String] { found.filter { $0.name == name }.map(\.text) }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        found.append((name, ""))
        open.append(found.count - 1)
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        open.removeLast()
    }

    func parser(_ parser: XMLParser, foundCharacters text: String) {
        if let last = open.last { found[last].text += text }
    }
}
