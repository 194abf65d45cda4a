import GRDB
import Model
import Testing

@testable import Storage

@Suite struct StoredSpecificationTests {
    /// As the versions before wrote it: a text that differs would count as a change of every bot at the first start.
    private static let text = """
        {"acceptsPointers":true,"clean":"never","hasSubmodules":true,"isInsecure":false,"name":"tree","poll":{"automatic":{}},\
        "product":"tree","repository":"/srv/tree","tags":[],"timeout":[97,10665824850173493248],"triggers":[]}
        """

    @Test func testThatDefaultsAreNotStored() throws {
        let bot = BotSpecification(name: try name("tree"), repository: "/srv/tree", acceptsPointers: true)
        #expect(try jsonText(StoredSpecification(bot)) == Self.text)
    }

    @Test func testThatAnEarlierTextIsReadWithTheDefaultsOfWhatItLacks() async throws {
        try await withStore(["tree"]) { fixture in
            // given
            try await fixture.store.writer.write("write as a version before") {
                try $0.db.execute(sql: "UPDATE bots SET specification = ?", arguments: [Self.text])
            }
            // when
            let bot = try #require(try await fixture.store.specifications().first)
            // then
            #expect(bot == BotSpecification(name: try name("tree"), repository: "/srv/tree", acceptsPointers: true))
            #expect(bot.logLimit == BotSpecification.usualLogLimit)
            #expect(bot.pullRequests == .trusted)
            #expect(bot.isIntegratedOnUpgrade)
        }
    }

    @Test func testThatOtherValuesAreReadAsTheyWereStored() async throws {
        try await withStore { fixture in
            // given
            let bot = BotSpecification(
                name: try name("kit"), repository: StoreFixture.repository, isInsecure: true, hasSubmodules: false,
                acceptsPointers: false, branches: [RefPattern("main")], tags: [RefPattern("v*")], poll: .off,
                webhookSecret: "hook", clean: .daily, supersede: .running, timeout: .seconds(7),
                logLimit: .mebibytes(1), recipe: .init(yaml: "test: none", firstLine: 3), product: try name("other"),
                isPublic: true, pullRequests: .all, isIntegratedOnUpgrade: false)
            // when
            try await fixture.store.register([bot], at: time(1))
            // then
            #expect(try await fixture.store.specifications() == [bot])
        }
    }
}
