import Basics
import HTTPTypes
import Integrations
import Model
import NIOCore
import Releases
import Storage
import TestSupport
import Testing
import Transfer

@testable import Web

/// Products with their own access: `kit`, as each test sets it, and `other`, which no file names.
@Suite struct ProductAccessTests {
    private static let other = Name(nearest: "other")

    private static func bot(_ name: Name, isPublic: Bool?, product: Name? = nil) -> BotSpecification {
        BotSpecification(name: name, repository: SampleContent.repository, product: product, isPublic: isPublic)
    }

    private func withProducts(
        anonymousMayRead: Bool, isPublic: Bool?, fileCache: FileCache = FileCache(),
        _ body: @Sendable (WebFixture) async throws -> Void
    ) async throws {
        try await withWeb(anonymousMayRead: anonymousMayRead, fileCache: fileCache) { web in
            let sample = SampleContent(web: web)
            try await web.store.register(
                [Self.bot(SampleContent.kit, isPublic: isPublic), Self.bot(Self.other, isPublic: nil)],
                at: WebFixture.now)
            let record = try await sample.integrate(0, ref: "release/1", failing: [], warnings: 0, before: nil)
            try await sample.publish(
                "1.0.0", by: record,
                files: [
                    "Kit-1.0.0.zip": Array("zip".utf8),
                    "Package.swift": RegistryRoutesTests.manifests["Package.swift"] ?? [],
                ],
                registry: PackageIdentifier("Acme.Kit"))
            try await sample.publish("1.0.0", by: record, product: Self.other)
            try await body(web)
        }
    }

    private static let paths = [
        "/files/kit/1.0.0/Kit-1.0.0.zip", "/files/kit/1.0.0/SHA256SUMS", "/files/kit/", "/files/kit/1.0.0/",
        "/files/kit/latest/Kit-1.0.0.zip", "/products/kit", "/products/kit/1.0.0", "/products/kit/feed.atom",
        "/products/kit/feed.json", "/api/v1/products/kit/versions", "/api/v1/products/kit/versions/latest",
        "/registry/acme/kit", "/registry/ACME/kit.json", "/registry/acme/kit/1.0.0", "/registry/acme/kit/1.0.0.zip",
        "/registry/acme/kit/1.0.0/Package.swift",
    ]
    private static let listings = [
        "/files/", "/products", "/api/v1/products", "/registry/identifiers?url=https://git.example/acme/kit.git",
    ]

    private static func names(_ answer: RawAnswer) -> [String] {
        ["kit", "other"].filter { name in
            ["/\(name)/", "/\(name)\"", "\"\(name)\"", ".Kit\""].contains {
                answer.text.contains($0) && ($0 != ".Kit\"" || name == "kit")
            }
        }
    }

    @Test(
        .proves(
            .releases,
            "Serving: Each product is public or by token, in files, pages, feeds, API, registry and listings; its builds' archives are closed with it"
        ))
    func testThatAClosedProductNeedsAToken() async throws {
        try await withProducts(anonymousMayRead: true, isPublic: false) { web in
            for path in Self.paths {
                try await web.expect(401, "GET", path)
                let answer = try await web.send("GET", path, as: .viewer)
                #expect([200, 302].contains(answer.status), "\(path): \(answer.text)")
                #expect(answer["Cache-Control"]?.hasPrefix("public") == false, "\(path)")
                #expect(answer["Vary"]?.contains("Authorization") == true)
            }
            for path in Self.listings {
                let answer = try await web.send("GET", path)
                #expect(!Self.names(answer).contains("kit"), "\(path)")
                #expect(answer["Vary"]?.contains("Authorization") == true, "others see more")
                #expect(Self.names(try await web.send("GET", path, as: .viewer)).contains("kit"), "\(path)")
            }
            let artifact = "/api/v1/bots/kit/integrations/1/artifacts/release/kit-1.0.0-source.tar.gz"
            try await web.expect(401, "GET", artifact)
            try await web.expect(200, "GET", "/files/other/1.0.0/kit-source.tar.gz")
            try await web.expect(200, "GET", "/api/v1/bots")
            #expect(web.site.fileCache.bytes > 0)
            #expect(web.site.fileCache.entry(at: Self.paths[0], now: .uptimeNanoseconds(0)) == nil)
        }
    }

    @Test(
        .proves(
            .releases,
            "Serving: Each product is public or by token, in files, pages, feeds, API, registry and listings; its builds' archives are closed with it"
        ))
    func testThatAnOpenProductNeedsNone() async throws {
        try await withProducts(anonymousMayRead: false, isPublic: true) { web in
            for path in Self.paths {
                let answer = try await web.send("GET", path)
                #expect([200, 302].contains(answer.status), "\(path): \(answer.text)")
                #expect(answer["Vary"]?.contains("Authorization") != true)
            }
            let file = try await web.send("GET", Self.paths[0])
            #expect(file["Cache-Control"] == "public, max-age=31536000, immutable")
            for path in Self.listings {
                let answer = try await web.send("GET", path)
                #expect(Self.names(answer) == ["kit"], "\(path)")
                #expect(answer["Vary"]?.contains("Authorization") == true)
            }
            for path in [
                "/", "/bots/kit", "/api/v1/bots", "/files/other/", "/files/other/1.0.0/kit-source.tar.gz",
                "/files/none/",
                "/products/other", "/registry/acme/none", "/metrics",
                "/api/v1/bots/kit/integrations/1/artifacts/release/kit-1.0.0-source.tar.gz",
            ] {
                try await web.expect(401, "GET", path)
            }
            try await web.expect(401, "POST", "/api/v1/products/kit/versions/1.0.0/yank")
        }
    }

    @Test(
        .proves(
            .releases,
            "Serving: Names and digests of what a closed product's build archived are told to those alone who may read it"
        ))
    func testThatWhatAClosedBuildArchivedIsNamedToThoseAloneWhoMayReadIt() async throws {
        try await withProducts(anonymousMayRead: true, isPublic: false) { web in
            // given: an upload is in progress, too
            let id = IntegrationID(bot: SampleContent.kit, number: 1)
            let trigger = Name(nearest: "office")
            try await web.store.recordTrigger(
                TriggerRecord(
                    integration: id, trigger: trigger, attempt: 1, run: 1, phase: .after, state: .running,
                    startedAt: WebFixture.now))
            let progress = UploadProgress(
                phase: .sending, file: "kit-1.0.0-source.tar.gz", number: 1, count: 1, bytes: 1, size: 2,
                attempt: 1,
                interruption: nil)
            _ = web.operations.board.record(progress, integration: id, trigger: trigger)
            let api = "/api/v1/bots/kit/integrations/1"

            // when
            let (page, triggers) = (
                try await web.send("GET", "/bots/kit/1"), try await web.send("GET", api + "/triggers")
            )

            // then
            for answer in [page, triggers] {
                #expect(answer.status == 200)
                #expect(!answer.text.contains("kit-1.0.0"))
                #expect(answer["Cache-Control"] == "no-store")
            }
            expectContains(page.text, "What it archived needs a token.")
            try await web.expect(401, "GET", api + "/artifacts")

            // A caller with a token sees it
            for path in ["/bots/kit/1", api + "/triggers", api + "/artifacts"] {
                let answer = try await web.send("GET", path, as: .viewer)
                expectContains(answer.text, "kit-1.0.0-source.tar.gz")
                #expect(answer["Cache-Control"] == "no-store", "\(path)")
                #expect(answer["Vary"]?.contains("Authorization") == true, "\(path)")
            }
        }
    }

    @Test(
        .proves(
            .releases,
            "Serving: Each product is public or by token, in files, pages, feeds, API, registry and listings; its builds' archives are closed with it"
        ))
    func testThatTheStricterFileCounts() async throws {
        try await withWeb(anonymousMayRead: false) { web in
            let (kit, second) = (SampleContent.kit, Name(nearest: "second"))
            // A missing file opens nothing, and still closes.
            let rows: [([BotSpecification], Bool)] = [
                ([Self.bot(kit, isPublic: nil)], false), ([Self.bot(kit, isPublic: true)], true), ([], false),
                ([Self.bot(kit, isPublic: true), Self.bot(second, isPublic: false, product: kit)], false),
                ([Self.bot(kit, isPublic: true)], false),
                ([Self.bot(kit, isPublic: true), Self.bot(second, isPublic: nil)], true),
            ]
            for (bots, expected) in rows {
                try await web.store.register(bots, at: WebFixture.now)
                let isPublic = try await web.site.access().isPublic(kit)
                #expect(isPublic == expected, "\(bots.map(\.isPublic))")
            }
        }
    }

    /// The product under its earlier name stays as closed as its bot.
    @Test(
        .proves(
            .releases,
            "Serving: Each product is public or by token, in files, pages, feeds, API, registry and listings; its builds' archives are closed with it"
        ))
    func testThatAnotherNameForTheProductOpensNothing() async throws {
        try await withProducts(anonymousMayRead: true, isPublic: false) { web in
            // given
            let path = "/files/kit/1.0.0/Kit-1.0.0.zip"
            try await web.expect(401, "GET", path)
            // when
            let renamed = Self.bot(SampleContent.kit, isPublic: false, product: Name(nearest: "kit2"))
            try await web.store.register([renamed], at: WebFixture.now)
            // then
            try await web.expect(401, "GET", path)
        }
    }

    /// A file that was served from memory before is served in the usual way after a second.
    @Test(
        .proves(
            .releases,
            "Serving: Each product is public or by token, in files, pages, feeds, API, registry and listings; its builds' archives are closed with it"
        ))
    func testThatClosingCountsSoon() async throws {
        let begin = NIODeadline.now()
        let time = Locked(begin)
        try await withProducts(
            anonymousMayRead: true, isPublic: nil, fileCache: FileCache { time.value }
        ) { web in
            // given
            let path = "/files/kit/1.0.0/Kit-1.0.0.zip"
            // The connection stays open, because only then files are served from memory. A second request ends it.
            func status() async throws -> String {
                let text = try await RawAnswer.exchange(
                    "GET \(path) HTTP/1.1\r\nHost: a\r\n\r\nGET /none HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
                    port: web.port)
                return String(text.prefix(12))
            }
            #expect(try await status() == "HTTP/1.1 200")
            // when
            try await web.store.register([Self.bot(SampleContent.kit, isPublic: false)], at: WebFixture.now)
            // then
            time.withLock { $0 = begin + .milliseconds(999) }
            #expect(try await status() == "HTTP/1.1 200")
            time.withLock { $0 = begin + .seconds(1) }
            #expect(try await status() == "HTTP/1.1 401")
            #expect(web.site.fileCache.entry(at: path, now: .uptimeNanoseconds(0)) == nil)
        }
    }

    /// Returns a site with the service's store and a separate state directory, in which the server makes no links.
    private static func site(_ web: WebFixture, state: String, _ log: RecordingLogger) throws -> Site {
        Site(
            configuration: .init(
                listen: [], socket: nil, state: web.directory.path(state), url: "http://ci.example",
                anonymousMayRead: true, version: "1"),
            store: web.store, operations: web.operations, files: FileSender(),
            downloads: Downloads(store: web.store, logger: log.logger),
            figures: WorkFigures(store: web.store, logger: log.logger), templates: Templates(),
            clock: { WebFixture.now }, logger: log.logger)
    }

    @Test(
        .proves(.releases, "Serving: Links for another web server that could not be made or taken away are tried again")
    )
    func testThatLinksThatCouldNotBeMadeAreTriedAgain() async throws {
        try await withProducts(anonymousMayRead: true, isPublic: false) { web in
            // given: a separate state, since the server makes links too; another file is where a link belongs
            let link = "links/public/other"
            let root = try web.directory.directory()
            try root.makeDirectories(link)
            try root.makeLink("links/public/kit", target: Array("../files/kit".utf8))
            let log = RecordingLogger()
            log.expectErrors(containing: "could not be made or taken away")
            let site = try Self.site(web, state: "links", log)
            try await withThrowingTaskGroup(of: Void.self) { group in
                let service = PublicLinks(site: site, pause: .milliseconds(1))
                group.addTask { try await service.run() }
                // the possible changes are made
                await until("the closed product's link is gone") {
                    (try? root.status("links/public/kit")) == .some(nil)
                }
                await until("it is said") {
                    log.lines.contains { $0.message.contains("could not be made") }
                }

                // when
                try root.remove(link)

                // then
                await until("the other is linked") {
                    (try? root.status(link))??.kind == .link
                }
                group.cancelAll()
            }
            let said = log.lines.count { $0.message.contains("could not be made") }
            #expect(said == 1, "the same trouble is said once")
        }
    }

    @Test(
        .proves(
            .jobs,
            "The service's group, for a web server, reads only published files of public products; the start closes states of earlier versions (S4)"
        ), .proves(.releases, "Serving: An nginx sample that serves the public products alone, from the disk"))
    func testThatPublicProductsAloneAreLinked() async throws {
        try await withProducts(anonymousMayRead: true, isPublic: false) { web in
            // given: the server's own reading of the bots from before the last change may end after it
            let root = try web.directory.directory()
            try root.makeDirectories("links")
            try await runExpectingSuccess(
                ["cp", "-a", web.directory.path("state/files"), web.directory.path("links/files")])
            func links() throws -> [String] { try root.entries("links/public").map(\.name).sorted() }
            let service = PublicLinks(site: try Self.site(web, state: "links", web.log))
            // when, then
            func modes() throws -> [UInt16?] {
                try ["kit", "other"].map { try root.status("links/files/\($0)")?.mode }.map { $0.map { $0 & 0o077 } }
            }
            #expect(await service.update() == nil)
            #expect(try links() == ["other"])
            #expect(try modes() == [0, 0o050], "the service's group reads public products alone")
            #expect(
                try web.directory.text("links/public/other/1.0.0/SHA256SUMS").contains("kit-source.tar.gz"),
                "a web server finds the files there")
            // when
            try await web.store.register(
                [Self.bot(SampleContent.kit, isPublic: true), Self.bot(Self.other, isPublic: false)], at: WebFixture.now
            )
            #expect(await service.update() == nil)
            // then
            #expect(try links() == ["kit"])
            #expect(try modes() == [0o050, 0])
        }
    }

    /// A package's versions are like this in a tree that was joined by hand.
    @Test(
        .proves(
            .releases,
            "Registry: A package belongs to one product. Another one's is an error before publishing; the owner keeps it, whatever a new file is called"
        ),
        arguments: [
            (true, [("kit", false)], false), (true, [("kit", true)], true), (false, [("kit", true)], false),
            (false, [("kit", true), ("other", true)], true), (true, [("kit", true), ("other", false)], false),
        ])
    func testThatTheStricterOfSeveralProductsCounts(
        anonymousMayRead: Bool, stated: [(String, Bool)], isPublic: Bool
    ) {
        let access = ProductAccess(
            anonymousMayRead: anonymousMayRead,
            stated: Dictionary(uniqueKeysWithValues: stated.map { (Name(nearest: $0.0), $0.1) }))
        #expect(access.arePublic([SampleContent.kit, Self.other]) == isPublic)
        #expect(access.arePublic([]) == anonymousMayRead)
    }
}
