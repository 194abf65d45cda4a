import Model
import TestSupport
import Testing

/// A bot that integrates no ref of its repository.
@Suite(
    .proves(
        .intake,
        "A repository without a branch that the bot watches is named on the bot's page, by `doctor`, `bots` and `integrate`, with the line that corrects it"
    ))
struct UnwatchedTests {
    private static let main = RefName(branch: "main")

    private func reason(
        _ heads: [RefName], branches: [String]? = nil, tags: [String] = [], defaultBranch: RefName? = nil
    ) throws -> (text: String, remedy: String)? {
        let bot = BotSpecification(
            name: try #require(Name("kit")), repository: "/srv/kit.git",
            branches: branches.map { $0.map { RefPattern($0) } }, tags: tags.map { RefPattern($0) })
        return bot.whyUnwatched(heads: heads, defaultBranch: defaultBranch)
    }

    @Test func testThatABotThatWatchesOneRefHasNoReason() throws {
        let found = [
            try reason([Self.main], defaultBranch: Self.main), try reason([RefName(branch: "release/1.0")]),
            try reason([Self.main, RefName(tag: "1.0")], branches: [], tags: ["*"]),
        ]
        #expect(found.allSatisfy { $0 == nil })
    }

    @Test func testThatBranchesThatMatchNothingAreNamedWithTheLineThatCorrectsThem() throws {
        let found = try #require(try reason([RefName(branch: "dev"), Self.main], branches: ["master"]))
        #expect(
            found.text == "the repository lists no branch that `branches: [master]` matches; it has dev, main")
        #expect(found.remedy == "write `branches: [main]` into kit.yml")
    }

    @Test func testThatAHEADThatLeadsNowhereIsNamed() throws {
        let found = try #require(try reason([RefName(branch: "dev"), RefName(branch: "topic")]))
        expectContains(found.text, "HEAD of the repository leads to no branch that exists")
        expectContains(found.remedy, "`branches: [dev]` into kit.yml, or correct HEAD on the server")
    }

    @Test func testThatARepositoryOfTagsAloneIsNamed() throws {
        let found = try #require(try reason([RefName(tag: "1.0")]))
        #expect(found.text == "the repository lists tags and no branch")
        expectContains(found.remedy, "`tags: ['*']`")
    }

    @Test func testThatManyBranchesAndOddNamesStayShortAndQuoted() throws {
        let heads = (1...9).map { RefName(branch: "[\($0)]") }
        let found = try #require(try reason(heads, branches: ["main"]))
        expectContains(found.text, "[5], …")
        expectContains(found.remedy, "`branches: [\"[1]\"]`")
    }
}
