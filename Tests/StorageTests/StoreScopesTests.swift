import GRDB
import Model
import TestSupport
import Testing

@testable import Storage

/// Roles that are limited to bots: tokens, sessions, and what listings show.
@Suite struct StoreScopesTests {
    private func scope(_ texts: String...) throws -> BotScope { try #require(BotScope(texts)) }

    /// Runs a test with two bots that report, `kit` and `other`, with two integrations each.
    private func withTwoBots(_ body: (StoreFixture) async throws -> Void) async throws {
        try await withStore { fixture in
            try await fixture.store.register(
                ["kit", "other"].map {
                    BotSpecification(
                        name: try name($0), repository: StoreFixture.repository, status: StoreOutboxTests.target)
                }, at: time(1))
            for number in 1...4 {
                _ = try await fixture.store.queue(
                    NewIntegration(
                        bot: try name(number % 2 == 0 ? "kit" : "other"), ref: RefName(branch: "main"),
                        commit: commit(number), cause: .person), at: time(10))
            }
            try await body(fixture)
        }
    }

    @Test(.proves(.web, "A role is limited to bots, by name or pattern"))
    func testThatATokenKeepsItsBots() async throws {
        try await withStore { fixture in
            let store = fixture.store
            let bots = try scope("kit", "tools-*")
            // when
            try await store.createToken(name: "team", role: .operator, bots: bots, hash: "h", at: time(1))
            // then
            #expect(try await store.token(hash: "h")?.bots == bots)
            #expect(try await store.tokens().map(\.bots) == [bots])
        }
    }

    @Test(.proves(.web, "A session has the rights of its token, and ends with it"))
    func testThatASessionHasTheBotsOfItsToken() async throws {
        try await withStore { fixture in
            let store = fixture.store
            try await store.createToken(
                name: "team", role: .operator, bots: try scope("kit"), hash: "t", at: time(1))
            // when
            try await store.createSession(.token(name: "team"), hash: "h", at: time(2))
            // then
            let rights = Rights(.operator, on: try scope("kit"))
            #expect(try await store.session(hash: "h", at: time(3))?.origin == .token(name: "team", rights: rights))
            #expect(try await store.revokeToken(name: "team", at: time(4)))
            #expect(try await store.session(hash: "h", at: time(5)) == nil)
        }
    }

    /// A limit that cannot be read must not become a role without a limit.
    @Test(arguments: ["[]", "[\"Kit\"]", "{}", ""])
    func testThatADamagedScopeIsNoRole(_ text: String) async throws {
        try await withStore { fixture in
            try await fixture.store.createToken(
                name: "team", role: .admin, bots: try scope("kit"), hash: "h", at: time(1))
            try await fixture.store.writer.write("damage a token") { transaction in
                try transaction.db.change("UPDATE tokens SET bots = ?", [text])
            }
            await expectFailure(.corrupt, "bots") { _ = try await fixture.store.token(hash: "h") }
        }
    }

    @Test(.proves(.web, "Listings show a limited role its own bots alone"))
    func testThatListsAreOfTheBots() async throws {
        try await withTwoBots { fixture in
            let store = fixture.store
            var filter = IntegrationFilter()
            for (bots, names) in [
                (try scope("k?t"), ["kit"]), (try scope("none"), []), (try scope("*"), ["kit", "other"]),
            ] {
                // when
                filter.bots = bots
                let page = try await store.integrations(filter, limit: 1, before: nil)
                let rest = try await store.integrations(filter, limit: 10, before: page.next)
                let messages = try await store.outbox(nil, of: bots, limit: 200)
                // then
                let items = page.items + (page.next == nil ? [] : rest.items)
                #expect(Set(items.map(\.id.bot.description)).sorted() == names)
                #expect(items.count == 2 * names.count)
                #expect(Set(messages.items.map(\.bot.description)).sorted() == names)
                #expect(try await store.outboxCounts(of: bots).values.reduce(0, +) == messages.items.count)
            }
            #expect(try await store.integrations().items.count == 4)
            let message = try #require(try await store.outbox().items.first)
            #expect(try await store.bot(ofMessage: message.id) == message.bot)
            #expect(try await store.bot(ofMessage: 999) == nil)
        }
    }

    @Test(.proves(.web, "A product needs the role on every bot that makes it"))
    func testThatTheMakersOfAProductAreThoseThatNameItAndThosePublished() async throws {
        try await withTwoBots { fixture in
            // given
            let (store, product) = (fixture.store, try name("kit"))
            _ = try await store.reserve(
                VersionRequest(
                    product: product, integration: IntegrationID(bot: try name("other"), number: 1), commit: commit(1),
                    ref: RefName(branch: "main"), source: .exactly(version("1.0.0")), onDisk: [], registry: nil),
                at: time(20))
            // then
            #expect(try await store.makers(of: product).map(\.description) == ["kit", "other"])
            #expect(try await store.makers(of: name("other")).map(\.description) == ["other"])
            #expect(try await store.makers(of: name("unknown")) == [])
            // and when the file of a bot is gone, it is still a maker
            try await store.register([], at: time(30))
            #expect(try await store.makers(of: product).map(\.description) == ["kit", "other"])
        }
    }
}
