import Hummingbird
import Model
import NIOCore
import NIOEmbedded
import Storage
import TestSupport
import Testing

@testable import Web

/// Exports that are computed once.
@Suite struct KeptExportsTests {
    private static let root = "/api/v1/bots/kit/integrations/2"
    private static let id = IntegrationID(bot: SampleContent.kit, number: 2)
    /// The kinds of exports with the names under which they are kept.
    private static let exports = [
        ("/issues.sarif", "issues.sarif"), ("/tests.xml", "tests.xml 0"), ("/tests/grid", "tests/grid 0 false 1000 0"),
    ]

    private static func withSample(_ body: @escaping @Sendable (WebFixture) async throws -> Void) async throws {
        try await withWeb { web in
            try await SampleContent(web: web).fill()
            try await body(web)
        }
    }

    /// Returns a complete export, whose bytes count among those of answers.
    static func export(_ text: String, _ web: WebFixture) async throws -> ExportFile.Complete {
        let holder = try web.limits.answers.hold(for: .anonymous, on: EmbeddedChannel(), Progress(), hasBegun: false)
        return try await ExportFile.write(
            Response.plain(text).body, type: "text/plain", for: holder, in: web.limits.directory, by: web.limits.files)
    }

    /// - Parameter name: The kind, and after a space the form.
    private static func key(_ name: String, of id: IntegrationID = id) -> KeptExports.Key {
        let parts = name.split(separator: " ", maxSplits: 1)
        return .init(integration: id, kind: String(parts[0]), form: parts.count > 1 ? String(parts[1]) : "")
    }

    /// Replaces the content of a kept export, so that an answer shows whether it was computed.
    private static func put(_ text: String, _ name: String, _ web: WebFixture, of id: IntegrationID = id) async throws {
        web.site.exports.put(try await export(text, web), key(name, of: id), stamp: web.store.stamp(of: id))
    }

    @Test(
        .proves(
            .intake,
            "An export (SARIF, JUnit, grid) is computed once until its integration or a silence changes, and served as a file with ranges and 304, bounded"
        ), arguments: exports)
    func testThatAnExportIsComputedOnce(path: String, name: String) async throws {
        try await Self.withSample { web in
            // given
            let first = try await web.send("GET", Self.root + path)
            #expect(first.status == 200)
            #expect(web.site.exports.bytes == Int64(first.body.count))
            #expect(try await web.send("GET", Self.root + path).body == first.body)
            // when: the same content with a blank, which is as valid
            let kept = first.text + " "
            try await Self.put(kept, name, web)
            // then
            #expect(try await web.send("GET", Self.root + path).text == kept)
        }
    }

    /// By a rerun, the end of an attempt, or a stored comparison.
    @Test(
        .proves(
            .intake,
            "An export (SARIF, JUnit, grid) is computed once until its integration or a silence changes, and served as a file with ranges and 304, bounded"
        ), arguments: exports)
    func testThatItIsComputedAgainWhenItsIntegrationChanges(path: String, name: String) async throws {
        try await Self.withSample { web in
            // given
            let first = try await web.send("GET", Self.root + path)
            try await Self.put("kept", name, web)
            // when
            try await web.store.completeIssues(of: Self.id, issues: [], summary: Summary(), at: WebFixture.now)
            // then
            let second = try await web.send("GET", Self.root + path)
            #expect(second.status == 200)
            #expect(second.text != "kept")
            #expect((second["ETag"] == first["ETag"]) == (path != "/issues.sarif"))
        }
    }

    /// A silence in one integration is shown in others of its bot.
    @Test(
        .proves(
            .intake,
            "An export (SARIF, JUnit, grid) is computed once until its integration or a silence changes, and served as a file with ranges and 304, bounded"
        ))
    func testThatASilenceShowsAtOnce() async throws {
        try await Self.withSample { web in
            // given
            let before = try await web.send("GET", Self.root + "/issues.sarif")
            #expect(!before.text.contains("the vendor's"))
            // when
            let silence = Silence(reason: "the vendor's", person: "ada", at: WebFixture.now, expires: nil)
            let first = IntegrationID(bot: SampleContent.kit, number: 1)
            try await web.store.silence(String(repeating: "0", count: 64), of: first, silence)
            // then
            let after = try await web.send("GET", Self.root + "/issues.sarif")
            expectContains(after.text, "the vendor's")
            #expect(after["ETag"] != before["ETag"])
        }
    }

    @Test(
        .proves(
            .intake,
            "An export (SARIF, JUnit, grid) is computed once until its integration or a silence changes, and served as a file with ranges and 304, bounded"
        ), arguments: exports)
    func testThatItIsServedAsAFile(path: String, name: String) async throws {
        try await Self.withSample { web in
            // given
            let whole = try await web.send("GET", Self.root + path)
            let tag = try #require(whole["ETag"])
            // when
            let part = try await web.send("GET", Self.root + path, headers: [("Range", "bytes=2-5")])
            let unchanged = try await web.send("GET", Self.root + path, headers: [("If-None-Match", tag)])
            let head = try await web.send("HEAD", Self.root + path)
            // then
            #expect(part.status == 206)
            #expect(part.body == Array(whole.body[2...5]))
            #expect(unchanged.status == 304)
            #expect(unchanged.body.isEmpty)
            #expect(head["Content-Length"] == "\(whole.body.count)")
            #expect(whole["Last-Modified"] == nil, "a second is too long for what may change within it")
        }
    }

    @Test(
        .proves(
            .intake,
            "An export (SARIF, JUnit, grid) is computed once until its integration or a silence changes, and served as a file with ranges and 304, bounded"
        ))
    func testThatNoConditionWithADateHidesAChange() async throws {
        try await Self.withSample { web in
            let date = "Sun, 06 Nov 2094 08:49:37 GMT"
            for header in ["If-Modified-Since", "If-Unmodified-Since"] {
                try await web.expect(200, "GET", Self.root + "/issues.sarif", headers: [(header, date)])
            }
        }
    }

    @Test func testThatParametersAreOfTheirOwnExports() async throws {
        try await Self.withSample { web in
            // given
            try await Self.put("kept", "tests/grid 0 false 1000 0", web)
            // when, then
            for query in ["?all", "?limit=1", "?after=1", "?attempt=1"] {
                let answer = try await web.send("GET", Self.root + "/tests/grid" + query)
                #expect(answer.status == 200)
                #expect(answer.text != "kept", "\(query)")
            }
        }
    }

    @Test(
        .proves(
            .intake,
            "An export (SARIF, JUnit, grid) is computed once until its integration or a silence changes, and served as a file with ranges and 304, bounded"
        ))
    func testThatTwoRequestsAtOnceComputeOneExport() async throws {
        try await Self.withSample { web in
            // given: both wait for their turn
            var turn: AnswerSemaphore.Turn? = try await web.limits.exports.acquire(.anonymous)
            let clients = try (1...2).map { _ in try SlowClient(get: Self.root + "/issues.sarif", port: web.port) }
            await until("both wait") { web.limits.exports.waitingCount == 2 }
            // when: as if the first had computed this
            try await Self.put("kept", "issues.sarif", web)
            withExtendedLifetime(turn) {}
            turn = nil
            // then
            for client in clients { expectContains(await client.head(), "Content-Type: text/plain") }
        }
    }

    @Test(
        .proves(
            .intake,
            "An export (SARIF, JUnit, grid) is computed once until its integration or a silence changes, and served as a file with ranges and 304, bounded"
        ))
    func testThatWhatIsKeptOfARemovedIntegrationGoes() async throws {
        try await Self.withSample { web in
            // given
            let removed = IntegrationID(bot: SampleContent.kit, number: 99)
            try await Self.put("kept", "issues.sarif", web, of: removed)
            // when
            try await web.expect(200, "GET", Self.root + "/issues.sarif")
            // then
            #expect(web.site.exports.integrations == [Self.id])
            try await web.expect(404, "GET", "/api/v1/bots/kit/integrations/99/issues.sarif")
        }
    }

    @Test(
        .proves(
            .intake,
            "An export (SARIF, JUnit, grid) is computed once until its integration or a silence changes, and served as a file with ranges and 304, bounded"
        ))
    func testThatTheirNumberIsBounded() async throws {
        try await Self.withSample { web in
            // given
            let exports = KeptExports()
            let export = try await Self.export("kept", web)
            func key(_ number: Int) -> KeptExports.Key {
                Self.key("a", of: IntegrationID(bot: SampleContent.kit, number: number))
            }
            // when
            for number in 1...KeptExports.maximumCount { exports.put(export, key(number), stamp: 0) }
            #expect(exports.export(key(1), stamp: 0) != nil)
            exports.put(export, key(100), stamp: 0)
            // then: the export with the oldest request is removed
            #expect(exports.integrations.count == KeptExports.maximumCount)
            #expect(exports.export(key(2), stamp: 0) == nil)
            #expect(exports.export(key(1), stamp: 0) != nil)
            #expect(exports.bytes == Int64(4 * KeptExports.maximumCount))
        }
    }

    /// Closing a large file takes time. Clients that wait for the exports' lock do not wait for that.
    @Test(
        .proves(
            .intake,
            "An export (SARIF, JUnit, grid) is computed once until its integration or a silence changes, and served as a file with ranges and 304, bounded"
        ), arguments: ["put", "remove", "remove all"])
    func testThatARemovedFileIsClosedWhereItIsReleased(how: String) async throws {
        try await Self.withSample { web in
            // given
            let exports = KeptExports()
            weak var file: OpenFile?
            let key = Self.key("a")
            do {
                let export = try await Self.export("kept", web)
                file = export.file
                exports.put(export, key, stamp: 0)
            }
            // when
            let removed =
                switch how {
                case "put": exports.put(try await Self.export("newer", web), key, stamp: 1).removed
                case "remove": exports.remove([Self.id])
                default: exports.removeAll()
                }
            // then
            #expect(exports.export(key, stamp: 0) == nil)
            #expect(file != nil)
            await removed.release(by: web.limits.files)
            #expect(file == nil)
        }
    }

    /// Otherwise sixteen requests by anybody would remove all other exports.
    @Test(
        .proves(
            .intake,
            "An export (SARIF, JUnit, grid) is computed once until its integration or a silence changes, and served as a file with ranges and 304, bounded"
        ))
    func testThatFormsOfAGridRemoveNoOtherExports() async throws {
        try await Self.withSample { web in
            // given
            for (_, name) in Self.exports { try await Self.put("kept", name, web) }
            // when: pages of one test each, and pages beyond the last one
            for query in (0...20).map({ "?limit=1&all&after=\($0)" }) + (100...120).map({ "?after=\($0)" }) {
                try await web.expect(200, "GET", Self.root + "/tests/grid" + query)
            }
            // then
            for (path, _) in Self.exports.prefix(2) {
                #expect(try await web.send("GET", Self.root + path).text == "kept", "\(path)")
            }
        }
    }

    @Test(
        .proves(
            .intake,
            "An export (SARIF, JUnit, grid) is computed once until its integration or a silence changes, and served as a file with ranges and 304, bounded"
        ))
    func testThatTheNumberOfFormsIsBounded() async throws {
        try await Self.withSample { web in
            // given
            let exports = KeptExports()
            let export = try await Self.export("kept", web)
            exports.put(export, Self.key("a"), stamp: 0)
            // when
            for number in 0...KeptExports.maximumForms { exports.put(export, Self.key("b \(number)"), stamp: 0) }
            // then
            #expect(exports.export(Self.key("a"), stamp: 0) != nil)
            #expect(exports.export(Self.key("b 0"), stamp: 0) == nil, "the oldest form")
            for number in 1...KeptExports.maximumForms {
                #expect(exports.export(Self.key("b \(number)"), stamp: 0) != nil)
            }
        }
    }

    @Test(
        .proves(
            .intake,
            "An export (SARIF, JUnit, grid) is computed once until its integration or a silence changes, and served as a file with ranges and 304, bounded"
        ))
    func testThatAPageBeyondTheLastOneIsNotKept() async throws {
        try await Self.withSample { web in
            for query in ["/tests/grid?after=100", "/tests.xml?attempt=100"] {
                try await web.expect(200, "GET", Self.root + query)
                #expect(web.site.exports.integrations.isEmpty, "\(query)")
            }
        }
    }

    // MARK: Bytes

    /// Otherwise each export that a slow client reads would make room for the next one, and all of them would stay on the disk.
    @Test(
        .proves(
            .intake,
            "An export (SARIF, JUnit, grid) is computed once until its integration or a silence changes, and served as a file with ranges and 304, bounded"
        ))
    func testThatNothingIsKeptInThePlaceOfWhatIsRead() async throws {
        try await Self.withSample { web in
            // given
            let exports = KeptExports()
            let export = try await Self.export("kept", web)
            var readers: [KeptExports.Export] = []
            for number in 1...KeptExports.maximumCount {
                readers += [exports.put(export, Self.key("a\(number)"), stamp: 0).kept].compactMap(\.self)
            }
            #expect(readers.count == KeptExports.maximumCount)
            // when, then
            #expect(exports.put(export, Self.key("b"), stamp: 0).kept == nil)
            #expect(exports.export(Self.key("a1"), stamp: 0) != nil)
            readers.remove(at: 5)
            #expect(exports.put(export, Self.key("b"), stamp: 0).kept != nil)
            #expect(exports.export(Self.key("a6"), stamp: 0) == nil, "nobody reads it")
            #expect(exports.bytes == Int64(4 * KeptExports.maximumCount))
            withExtendedLifetime(readers) {}
        }
    }

    @Test(
        .proves(
            .intake,
            "An export (SARIF, JUnit, grid) is computed once until its integration or a silence changes, and served as a file with ranges and 304, bounded"
        ))
    func testThatARemovedExportCountsUntilItIsRead() async throws {
        try await Self.withSample { web in
            // given
            let exports = KeptExports()
            var reader = exports.put(try await Self.export("kept", web), Self.key("a"), stamp: 0).kept
            #expect(reader != nil)
            // when
            exports.removeAll()
            // then
            #expect(exports.integrations.isEmpty)
            #expect(exports.bytes == 4)
            reader = nil
            #expect(exports.bytes == 0)
        }
    }

    @Test(
        .proves(
            .intake,
            "An export (SARIF, JUnit, grid) is computed once until its integration or a silence changes, and served as a file with ranges and 304, bounded"
        ))
    func testThatAnExportCountsWhileItIsWritten() async throws {
        try await Self.withSample { web in
            // given
            let body = ResponseBody { writer in
                try await writer.write(ByteBuffer(repeating: 0, count: 300_000))
                #expect(web.limits.answers.held == 300_000)
                try await writer.finish(nil)
            }
            let holder = try web.limits.answers.hold(
                for: .anonymous, on: EmbeddedChannel(), Progress(), hasBegun: false)
            // when
            let export = try await ExportFile.write(
                body, type: "text/plain", for: holder, in: web.limits.directory, by: web.limits.files)
            // then
            #expect(export.head.size == 300_000)
        }
    }
}
