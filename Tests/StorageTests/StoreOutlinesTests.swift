import GRDB
import Model
import TestSupport
import Testing

@testable import Storage

/// The queries of listings, ranges and each request about versions.
@Suite struct StoreOutlinesTests {
    @Suite struct GivenManyVersions {
        private func fill(_ publisher: StoreVersionsTests.Publisher) async throws {
            for (index, text) in ["1.10.0", "1.9.0", "1.0.0"].enumerated() {
                _ = try await publisher.ask(index + 1, integration: 1, .exactly(version(text)))
                try await publisher.store.publish(
                    PublishedVersion(
                        product: publisher.product, version: version(text),
                        integration: IntegrationID(bot: publisher.product, number: 1),
                        files: [Artifact(configuration: nil, path: "f", size: ByteCount(1), sha256: "ab")],
                        publishedAt: time(Int64(80 + index)), registry: PackageIdentifier("acme.kit")), at: time(90))
            }
            _ = try await publisher.ask(9, integration: 1, .exactly(version("2.0.0")))
        }

        /// A version whose files cannot be read delays only requests for them: listings and ranges do not read files.
        @Test(
            .proves(
                .releases,
                "Registry: Listings read only the files of shown versions; versions come in pages of 50, at most 200; a product's page shows the files of 20"
            ))
        func testThatListingsReadNoFiles() async throws {
            try await StoreVersionsTests.withPublisher { publisher in
                // given
                try await fill(publisher)
                try await publisher.store.writer.write("damage") {
                    try $0.db.execute(sql: "UPDATE versions SET files = 'broken' WHERE version = '1.10.0'")
                }
                let (store, product) = (publisher.store, try publisher.product)
                let package = try #require(PackageIdentifier("Acme.Kit"))
                // when
                let ofProduct = try await store.outlines(of: product)
                let ofPackage = try await store.outlines(of: package)
                // then
                #expect(ofProduct.map(\.version.description) == ["1.10.0", "1.9.0", "1.0.0"], "and no reserved one")
                #expect(ofPackage == ofProduct)
                #expect(ofProduct.allSatisfy { $0.files.isEmpty && $0.publishedAt != nil })
                let one = try await store.version(version("1.9.0"), of: package)
                #expect(one?.files.count == 1)
                #expect(try await store.version(version("1.9.0"), of: product) == one)
                #expect(try await store.version(version("2.0.0"), of: package) == nil)
                await expectFailure(.corrupt, "files") { try await store.version(version("1.10.0"), of: package) }
            }
        }

        @Test(
            .proves(
                .releases,
                "Registry: Listings read only the files of shown versions; versions come in pages of 50, at most 200; a product's page shows the files of 20"
            ))
        func testThatAPageOfThemHasTheirFiles() async throws {
            try await StoreVersionsTests.withPublisher { publisher in
                try await fill(publisher)
                let numbers = try ["1.0.0", "1.10.0", "2.0.0", "7.0.0"].map(version)
                let found = try await publisher.store.versions(numbers, of: publisher.product)
                #expect(found.map(\.version.description) == ["1.10.0", "1.0.0"])
                #expect(found.allSatisfy { $0.files.count == 1 })
            }
        }

        @Test func testThatThoseOfLateAreThoseThatWerePublishedLast() async throws {
            try await StoreVersionsTests.withPublisher { publisher in
                try await fill(publisher)
                let found = try await publisher.store.publishedLately(publisher.product, limit: 2)
                #expect(found.map(\.version.description) == ["1.0.0", "1.9.0"])
            }
        }
    }

    /// Each request asks who may read a product. The answer is cached until bots or versions change.
    @Test(
        .proves(
            .releases,
            "Registry: Listings read only the files of shown versions; versions come in pages of 50, at most 200; a product's page shows the files of 20"
        ))
    func testThatWhoMayReadIsReadOnceUntilItChanges() async throws {
        try await withStore { fixture in
            // given
            let store = fixture.store
            func register(_ isPublic: Bool) async throws {
                try await store.register(
                    [BotSpecification(name: name("kit"), repository: StoreFixture.repository, isPublic: isPublic)],
                    at: time(1))
            }
            try await register(false)
            #expect(try await store.statedAccess() == [name("kit"): false])
            // when: it is changed without the store
            try await store.writer.write("change") {
                try $0.db.execute(
                    sql: "UPDATE bots SET specification = json_set(specification, '$.isPublic', json('true'))")
            }
            // then
            #expect(try await store.statedAccess() == [name("kit"): false])
            // when
            try await register(true)
            try await register(false)
            try await register(true)
            // then
            #expect(try await store.statedAccess() == [name("kit"): true])
        }
    }

    /// The bot `kit` published `tool` before its file named another product. The bot `kit-2` is another one.
    @Test func testThatAProductOfAnEarlierNameIsClosedWithItsBot() async throws {
        try await withStore { fixture in
            // given
            let store = fixture.store
            try await store.writer.write("publish") {
                try $0.db.execute(
                    sql: """
                        INSERT INTO versions (product, version, state, "commit", ref, integration, reserved_at, published_at)
                            VALUES ('tool', '1.0.0', 'published', '0000000000000000000000000000000000000011',
                            'refs/heads/main', 'kit#1', 1, 2),
                            ('other', '1.0.0', 'published', '0000000000000000000000000000000000000011',
                            'refs/heads/main', 'kit-2#1', 1, 2);
                        """)
            }
            // when
            try await store.register(
                [BotSpecification(name: name("kit"), repository: StoreFixture.repository, isPublic: false)],
                at: time(1))
            // then
            #expect(try await store.statedAccess() == [name("kit"): false, name("tool"): false])
        }
    }

    @Test func testThatANewBotCountsOnFromTheVersionsOfItsName() async throws {
        try await withStore([]) { fixture in
            // given
            let store = fixture.store
            try await store.writer.write("publish") {
                try $0.db.execute(
                    sql: """
                        INSERT INTO versions (product, version, state, "commit", ref, integration, reserved_at, published_at)
                            VALUES ('kit', '1.0.0', 'published', '0000000000000000000000000000000000000011',
                            'refs/heads/main', 'kit#9', 1, 2),
                            ('kit', '1.1.0', 'published', '0000000000000000000000000000000000000011',
                            'refs/heads/main', 'kit#41', 1, 2),
                            ('kit', '1.2.0', 'published', '0000000000000000000000000000000000000011',
                            'refs/heads/main', 'kit-2#77', 1, 2);
                        """)
            }
            // when
            try await store.register(
                [BotSpecification(name: name("kit"), repository: StoreFixture.repository)], at: time(1))
            // then
            #expect(try await fixture.queue().id.number == 42)
        }
    }

    @Test func testThatAYankedVersionSaysSinceWhen() async throws {
        try await StoreVersionsTests.withPublisher { publisher in
            _ = try await publisher.ask(1, integration: 1)
            try await publisher.publish("1.4.0")
            try await publisher.store.yank(product: publisher.product, version: version("1.4.0"), at: time(90))
            #expect(try await publisher.store.outlines(of: publisher.product).map(\.yankedAt) == [time(90)])
        }
    }
}
