import Model
import TestSupport
import Testing

@Suite struct RightsTests {
    private func scope(_ texts: String...) throws -> BotScope { try #require(BotScope(texts)) }

    private func name(_ text: String) throws -> Name { try #require(Name(text)) }

    @Test(
        .proves(.web, "A role is limited to bots, by name or pattern"),
        arguments: [
            ("kit", true), ("tools-lint", true), ("tools-", true), ("a1", true), ("kits", false), ("tools", false),
            ("my-tools-lint", false), ("a12", false), ("other", false),
        ]) func testThatAScopeCoversNamesAndPatterns(_ bot: String, isCovered: Bool) throws
    {
        #expect(try scope("kit", "tools-*", "a?").covers(name(bot)) == isCovered)
    }

    @Test(.proves(.badInput, "A list of bots that is empty, too long or not of names is refused with a sentence"))
    func testThatABadListHasAReason() {
        for (texts, reason) in [
            ([], "it is empty"), ([""], "a name in it is empty"), (["Kit"], "a bot's name has"),
            (["kit/*"], "a bot's name has"), (["[ab]"], "a bot's name has"), (["!kit"], "a bot's name has"),
            (["kit "], "a bot's name has"), (["kít"], "a bot's name has"), (["kit", "a,b"], "a bot's name has"),
            ([String(repeating: "a", count: 65)], "is longer than 64 characters"),
            (Array(repeating: "kit", count: 65), "more than 64 names"),
        ] {
            #expect(BotScope(texts) == nil, "\(texts)")
            expectContains(BotScope.problem(with: texts) ?? "no problem with \(texts)", reason)
        }
        #expect(BotScope(Array(repeating: String(repeating: "a", count: 64), count: 64)) != nil)
    }

    @Test func testThatALimitedRoleHoldsOnItsBotsAlone() throws {
        // given
        let rights = Rights(.admin, on: try scope("kit"))
        // then
        #expect(rights.role == nil)
        #expect(rights.highest == .admin)
        #expect(try rights.role(on: name("kit")) == .admin)
        #expect(try rights.role(on: name("other")) == nil)
        #expect(try rights.scope == scope("kit"))
    }

    @Test(.proves(.web, "A person who matches several rules has each role on the bots of its rule"))
    func testThatSeveralRolesHoldEachOnItsBots() throws {
        // given
        let rights = Rights([
            .init(.viewer, on: nil), .init(.operator, on: try scope("kit", "tools-*")),
            .init(.admin, on: try scope("tools-lint")),
        ])
        // then
        #expect(rights.role == .viewer)
        #expect(rights.highest == .admin)
        #expect(rights.scope == nil)
        #expect(try rights.role(on: name("other")) == .viewer)
        #expect(try rights.role(on: name("kit")) == .operator)
        #expect(try rights.role(on: name("tools-lint")) == .admin)
    }

    @Test func testThatScopesOfSeveralRolesAreJoined() throws {
        let rights = Rights([.init(.viewer, on: try scope("a", "b")), .init(.admin, on: try scope("b", "c-*"))])
        #expect(rights.scope?.description == "a, b, c-*")
    }

    @Test func testThatWhatSeveralBotsMakeNeedsTheRoleOnEachOfThem() throws {
        // given
        let (kit, lint, other) = (try name("kit"), try name("lint"), try name("other"))
        let rights = Rights([.init(.operator, on: try scope("kit")), .init(.viewer, on: try scope("lint"))])
        // then
        #expect(rights.role(on: [kit]) == .operator)
        #expect(rights.role(on: [kit, lint]) == .viewer)
        #expect(rights.role(on: [kit, other]) == nil)
        // What nobody makes is the service's.
        #expect(rights.role(on: [Name]()) == nil)
        #expect(Rights(.viewer).role(on: [Name]()) == .viewer)
        #expect(Rights(.viewer).role(on: [other]) == .viewer)
    }

    @Test func testThatNoRightsAreNoRole() throws {
        #expect(Rights.anonymous.isEmpty && Rights.anonymous.role == nil && Rights.anonymous.highest == nil)
        #expect(try Rights(nil).role(on: name("kit")) == nil)
    }
}
