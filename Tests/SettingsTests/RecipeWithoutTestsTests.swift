import Foundation
import Model
import Settings
import TestSupport
import Testing

/// `test: none`.
@Suite struct RecipeWithoutTestsTests {
    private func read(_ yaml: String) -> Reading<Recipe> {
        RecipeReader.read(yaml: yaml, file: ".martlet.yml", project: .tree(.swiftPackage))
    }

    @Test(
        .proves(
            .reports,
            "What tests nothing is not published, also muted or `when: always`, unless the recipe says `test: none`"),
        arguments: ["test: none", "test: 'none'", "steps: [{ name: a, step: building, run: x }], test: none"])
    func testThatARecipeSaysThatNothingIsTested(_ text: String) throws {
        // when
        let reading = read("configurations: { debug: { \(text) } }\n")
        // then
        let configuration = try #require(reading.value?.configurations.first, "\(reading.diagnostics)")
        #expect(configuration.testsNothing == true)
        #expect(configuration.test == nil)
    }

    /// Any other text than the word is a command.
    @Test(arguments: ["None", "none -v", "./none", "\"none\\n\""])
    func testThatOnlyTheWordSaysThatNothingIsTested(_ text: String) throws {
        // when
        let configuration = try #require(
            read("configurations: { debug: { test: \(text) } }\n").value?.configurations.first)
        // then
        #expect(configuration.testsNothing == nil)
        #expect(configuration.test != nil)
    }

    @Test(
        .proves(
            .reports,
            "What tests nothing is not published, also muted or `when: always`, unless the recipe says `test: none`"),
        arguments: [
            Marked("§test: none, steps: [{ name: unit, step: testing, run: x }]", "and the step `unit` tests"),
            Marked("test: none, §report: a.xml", "`test: none` says that there is none"),
        ])
    func testThatItRefusesWhatContradictsIt(_ sample: Marked) {
        // given
        let moved = Marked("configurations: { debug: { " + sample.marked + " } }\n", sample.message)
        // when
        let reading = read(moved.text)
        // then
        moved.expectFirst(of: reading.diagnostics)
        #expect(reading.value == nil)
    }

    @Test func testThatARecordedRecipeKeepsThatNothingIsTested() throws {
        // given
        let recipe = try #require(read("configurations: { debug: { test: none } }\n").value)
        // when
        let again = try JSONDecoder().decode(Recipe.self, from: try JSONEncoder().encode(recipe))
        // then
        expectNoDifference(again, recipe)
    }
}
