import Model
import Settings
import Testing

@testable import Integrations
@testable import SourceControl

/// What was read of a recipe is not read again, and never taken for another's.
@Suite struct RecipeMemoryTests {
    private static func bot(_ name: String = "kit", recipe: String? = nil, line: Int = 1) throws -> BotSpecification {
        var bot = BotSpecification(name: try Samples.name(name), repository: "/kit.git")
        bot.recipe = recipe.map { .init(yaml: $0, firstLine: line) }
        return bot
    }

    private static func commit(_ recipe: String?, beside entries: [String] = []) -> CommitContent {
        CommitContent(
            details: details, rootEntries: entries + (recipe == nil ? [] : [".martlet.yml"]),
            file: recipe.map { Array($0.utf8) })
    }

    private static var details: CommitDetails {
        let time = Timestamp(millisecondsSinceEpoch: 0)
        return CommitDetails(
            id: CommitID(String(repeating: "1", count: 40))!, tree: "", parents: [], authorName: "", authorEmail: "",
            authoredAt: time, committedAt: time, subject: "", message: "")
    }

    private static func build(_ text: String) -> String { "configurations:\n  debug: { build: \(text) }\n" }

    @Test func testThatTheSameIsReadOnceAndTheSame() throws {
        // given
        let (memory, bot) = (RecipeMemory(), try Self.bot())
        let first = memory.recipe(of: Self.commit(Self.build("make")), bot: bot)

        // when
        let second = memory.recipe(of: Self.commit(Self.build("make")), bot: bot)

        // then
        #expect(first.value?.configurations.map(\.build) == ["make"])
        #expect(second.value == first.value)
        #expect(second.diagnostics == first.diagnostics)
        #expect(memory.readings == 1)
    }

    @Test func testThatWhateverItDependsOnMakesItAnother() throws {
        // given
        let memory = RecipeMemory()
        let own = "configurations:\n  nightly: { build: make }\n"
        let cases: [(CommitContent, BotSpecification)] = [
            (Self.commit(Self.build("make")), try Self.bot()),
            (Self.commit(Self.build("ninja")), try Self.bot()),
            (Self.commit(Self.build("make"), beside: ["Package.swift"]), try Self.bot()),
            (Self.commit(nil, beside: ["Package.swift"]), try Self.bot()),
            (Self.commit(nil), try Self.bot()),
            (Self.commit(Self.build("make")), try Self.bot(recipe: own)),
            (Self.commit(Self.build("make")), try Self.bot(recipe: own + "nonsense: 1\n")),
            (Self.commit(Self.build("make")), try Self.bot(recipe: own + "nonsense: 1\n", line: 7)),
            (Self.commit(Self.build("make")), try Self.bot("lib", recipe: own + "nonsense: 1\n", line: 7)),
            // The same letter for who reads it, other bytes for who runs it.
            (Self.commit(Self.build("make")), try Self.bot(recipe: Self.build("./caf\u{E9}"))),
            (Self.commit(Self.build("make")), try Self.bot(recipe: Self.build("./cafe\u{301}"))),
        ]

        for _ in 0..<2 {
            for (commit, bot) in cases {
                // when
                let reading = memory.recipe(of: commit, bot: bot)

                // then: as who has no memory reads it
                let fresh = RecipeMemory().recipe(of: commit, bot: bot)
                #expect(reading.value == fresh.value)
                #expect(reading.diagnostics == fresh.diagnostics)
            }
        }
        #expect(memory.readings == cases.count)
    }

    @Test func testThatItKeepsAFewAndNoneThatIsLarge() throws {
        // given
        let (memory, bot) = (RecipeMemory(), try Self.bot())
        let first = Self.commit(Self.build("make"))
        _ = memory.recipe(of: first, bot: bot)
        _ = memory.recipe(of: Self.commit(Self.build("ninja")), bot: bot)
        _ = memory.recipe(of: first, bot: bot)

        // when
        for number in 1..<RecipeMemory.limit { _ = memory.recipe(of: Self.commit(Self.build("n\(number)")), bot: bot) }

        // then: the one that was used longest ago made room
        #expect(memory.count == RecipeMemory.limit)
        let before = memory.readings
        _ = memory.recipe(of: first, bot: bot)
        #expect(memory.readings == before)

        // and when a root has names of more bytes than are kept
        let names = (0..<4000).map { "\($0)" + String(repeating: "x", count: 140) }
        for _ in 0..<2 { _ = memory.recipe(of: Self.commit(Self.build("make"), beside: names), bot: bot) }

        // then
        #expect(memory.readings == before + 2)
        #expect(memory.count == RecipeMemory.limit)
    }
}
