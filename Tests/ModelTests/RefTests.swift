import Model
import TestSupport
import Testing

@Suite struct RefNameTests {
    @Test func testThatABranchAndATagOfOneNameDiffer() {
        #expect(RefName(branch: "v1") != RefName(tag: "v1"))
        #expect(RefName(branch: "refs/tags/v1").tag == nil)
        #expect(RefName(branch: "refs/tags/v1").branch == "refs/tags/v1")
        #expect(RefName("refs/pull/1/head").branch == nil)
        #expect(RefName("refs/pull/1/head").shortName == "refs/pull/1/head")
    }

    @Test(
        .proves(
            .sourceControl,
            "Refs are told apart by their bytes, as git does; one whose name is no UTF-8 is left out (G15)"))
    func testThatNamesAreComparedByTheirBytes() {
        // given: the forms that macOS and Linux type. They are one String for Swift, and two refs for git
        let (composed, decomposed) = (RefName(branch: "caf\u{e9}"), RefName(branch: "cafe\u{301}"))
        #expect(composed.description == decomposed.description)

        // then
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed, composed]).count == 2)
        #expect(decomposed < composed)
        #expect(!(composed < decomposed))
        #expect(RefName(branch: "cafz") < composed)
        // An accent after the slash is the name's first character.
        #expect(RefName("refs/heads/\u{301}x").branch.map { Array($0.utf8) } == Array("\u{301}x".utf8))
        #expect(RefName("refs/tags/\u{301}x").tag != nil)
    }
}

@Suite struct RefPatternTests {
    @Test(
        .proves(.model, "Terms as values: names, refs, commits, versions, times, sizes"),
        arguments: [
            ("main", "main"), ("*", "main"), ("release/*", "release/1.4"), ("release/*", "release/"), ("**", "a/b/c"),
            ("a/**", "a/b/c"),
            ("**/c", "a/b/c"), ("v?.?", "v1.4"), ("*a*b*", "xxaxxbxx"), ("", ""), ("re*se/*", "release/1"),
            ("ä?", "äx"),
            ("***", "a/b"),
        ])
    func testThatItMatches(pattern: String, name: String) { #expect(RefPattern(pattern).matches(name)) }

    @Test(arguments: [
        ("main", "main2"), ("main", "xmain"), ("main", "Main"), ("*", "a/b"), ("release/*", "release/1/2"),
        ("release/*", "release"),
        ("?", "/"), ("?", ""), ("a/**", "b/a"), ("", "a"), ("[ab]", "a"), ("v1.4", "v1x4"),
    ])
    func testThatItDoesNotMatch(pattern: String, name: String) { #expect(!RefPattern(pattern).matches(name)) }

    @Test func testThatAQuestionMarkIsACharacterNotAByte() { #expect(RefPattern("?").matches("ä")) }

    @Test(.timeLimit(TestLimits.minutes(1))) func testThatAHostileNameCostsNothing() {
        // With backtracking this would not end in any practical time.
        let pattern = RefPattern(String(repeating: "*a", count: 60) + "b")
        #expect(!pattern.matches(String(repeating: "a", count: 4000)))
    }
}

@Suite struct BotSpecificationTests {
    private func bot(branches: [String]? = nil, tags: [String] = [], triggers: [Trigger] = []) throws
        -> BotSpecification
    {
        BotSpecification(
            name: try #require(Name("kit")), repository: "https://acme.example/kit.git",
            branches: branches?.map { RefPattern($0) }, tags: tags.map { RefPattern($0) }, triggers: triggers)
    }

    @Test func testThatWithoutBranchesItWatchesTheDefaultBranchAndReleases() throws {
        let bot = try bot()
        let main = RefName(branch: "main")
        #expect(bot.watches(main, defaultBranch: main))
        #expect(!bot.watches(RefName(branch: "topic"), defaultBranch: main))
        #expect(bot.watches(RefName(branch: "release/1.0"), defaultBranch: main))
        #expect(bot.watches(RefName(branch: "release/1.0"), defaultBranch: nil))
        #expect(!bot.watches(main, defaultBranch: nil))
        #expect(!bot.watches(RefName(tag: "release/1.0"), defaultBranch: main))
    }

    @Test func testThatBranchesAndTagsAreWatchedByTheirOwnPatterns() throws {
        let bot = try bot(branches: ["v*"], tags: ["1.*"])
        #expect(bot.watches(RefName(branch: "v1"), defaultBranch: nil))
        #expect(!bot.watches(RefName(tag: "v1"), defaultBranch: nil))
        #expect(bot.watches(RefName(tag: "1.0"), defaultBranch: nil))
        #expect(!bot.watches(RefName(branch: "1.0"), defaultBranch: nil))
        #expect(!bot.watches(RefName(branch: "main"), defaultBranch: RefName(branch: "main")))
        #expect(!bot.watches(RefName("refs/pull/1/head"), defaultBranch: nil))
    }

    @Test func testThatOnlyRefsThatArePublishedOrUploadedAreReleases() throws {
        let name = try #require(Name("t"))
        let release = [RefPattern("release/*")]
        let bot = try bot(triggers: [
            Trigger(name: name, action: .run("script")),
            Trigger(name: name, branches: release, action: .publish(.branch)),
        ])
        #expect(bot.isRelease(RefName(branch: "release/1.0")))
        #expect(!bot.isRelease(RefName(branch: "main")))
        #expect(!bot.isRelease(RefName(tag: "release/1.0")))
    }

    @Test(
        .proves(
            .steps,
            "Products are archived only if a later trigger or the recipe uses them; page, API, `martlet artifacts`, `--plan` and logs say why they are not"
        ))
    func testThatProductsAreArchivedOnlyWhereATriggerOrTheRecipeUsesThem() throws {
        // given
        let name = try #require(Name("t"))
        let publish = Trigger(name: name, branches: [RefPattern("release/*")], action: .publish(.branch))
        let bot = try bot(triggers: [
            publish, Trigger(name: name, phase: .before, action: .run("prepare")),
            Trigger(name: name, when: [.failed], action: .run("complain")),
        ])
        let main = RefName(branch: "main")
        func recipe(_ archive: Recipe.Archive) -> Recipe {
            Recipe(configurations: [Recipe.Configuration(name: name)], archive: archive)
        }

        // then
        #expect(bot.archivedConfiguration(of: recipe(.init()), on: RefName(branch: "release/1.0")) == name)
        #expect(bot.archivedConfiguration(of: recipe(.init()), on: main) == nil)
        for written in [Recipe.Archive(configuration: name), .init(include: ["kit"]), .init(bundle: true)] {
            #expect(bot.archivedConfiguration(of: recipe(written), on: main) == name)
            #expect(bot.whyNotArchived(recipe(written), on: main) == nil)
        }
        #expect(
            bot.whyNotArchived(recipe(.init()), on: main)
                == "not archived: nothing uses the products; `archive: {}` in the recipe keeps them, and so does a trigger that acts on main"
        )
        for (type, isArchived) in [(ProjectType.cmake, true), (.swiftPackage, false), (.cargo, false)] {
            var usual = recipe(.init())
            usual.projectType = type
            #expect((bot.archivedConfiguration(of: usual, on: main) != nil) == isArchived, "\(type)")
        }
        let none = recipe(.init(include: []))
        #expect(bot.archivedConfiguration(of: none, on: RefName(branch: "release/1.0")) == nil)
        #expect(bot.whyNotArchived(none, on: main) == "not archived: the recipe says `archive: { include: [] }`")
    }

    @Test(.proves(.intake, "`supersede: queued, running, never`, with outcomes and reasons"))
    func testThatNothingIsSupersededOnReleasesUnlessTheFileSaysSo() throws {
        // given
        let publish = Trigger(
            name: try #require(Name("t")), branches: [RefPattern("release/*")], action: .publish(.branch))
        var bot = try bot(triggers: [publish])
        let (main, release) = (RefName(branch: "main"), RefName(branch: "release/1.0"))

        // then
        #expect(bot.supersede(on: main) == .queued)
        #expect(bot.supersede(on: release) == .never)
        for stated in BotSpecification.Supersede.allCases {
            bot.supersede = stated
            #expect(bot.supersede(on: main) == stated)
            #expect(bot.supersede(on: release) == stated)
        }
    }
}

@Suite struct TriggerTests {
    private func trigger(branches: [String]?, tags: [String]?) throws -> Trigger {
        Trigger(
            name: try #require(Name("t")), branches: branches?.map { RefPattern($0) },
            tags: tags?.map { RefPattern($0) },
            action: .run("script"))
    }

    @Test(
        .proves(.triggers, "Conditions by branch and tag"),
        arguments: [
            (nil, nil, true, true), (["main"], nil, true, false), (["other"], nil, false, false),
            (nil, ["v*"], false, true),
            (["main"], ["v*"], true, true), ([], [], false, false),
        ] as [([String]?, [String]?, Bool, Bool)])
    func testThatItActsOnBranchesAndTags(branches: [String]?, tags: [String]?, onBranch: Bool, onTag: Bool) throws {
        let trigger = try trigger(branches: branches, tags: tags)
        #expect(trigger.matches(RefName(branch: "main")) == onBranch)
        #expect(trigger.matches(RefName(tag: "v1")) == onTag)
    }
}
