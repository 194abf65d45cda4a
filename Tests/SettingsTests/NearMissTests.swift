import Model
import TestSupport
import Testing

@testable import Settings

@Suite struct NearMissTests {
    private func remarks(_ entries: [String]) -> [String] {
        let project = RecipeReader.Project.recognized(
            ProjectType.recognize(ProjectTree(rootEntries: entries)), rootEntries: entries)
        return RecipeReader.withoutRecipe(project).value?.remarks ?? []
    }

    @Test(
        .proves(
            .issueHistory,
            "Nearly right names are reported: recipes, bot files, directories, trigger scripts, variables, settings"),
        arguments: [
            "martlet.yml", ".martlet.yaml", ".Martlet.yml", "martlet.yaml", ".MARTLET.YML", "_martlet.yml",
            ".martlet.yml.txt",
            ".martlet.json", ".martet.yml", ".martlett.yml", ".martlet.ymal", ".martlet",
        ])
    func testThatARecipeUnderAnotherNameIsSaid(name: String) {
        // given, when
        let found = remarks([name, "Package.swift"])
        // then
        #expect(found.count == 1)
        expectContains(found.first ?? "", name)
        expectContains(found.first ?? "", "the recipe is .martlet.yml")
    }

    @Test(arguments: [
        "README.md", ".gitlab-ci.yml", "Makefile", "market.yml", "martlet.md", "martlet", ".swiftlint.yml",
        "martini.yaml",
        "martlet.swift", "docker-compose.yml",
    ])
    func testThatOtherNamesAreNoRecipe(name: String) {
        #expect(remarks([name, "Package.swift"]).isEmpty)
    }

    @Test func testThatFewOfManyNamesAreSaid() {
        // given: names that differ before the word
        let names = (1...5000).map { number in
            String((0..<13).map { number >> $0 & 1 == 0 ? "." : "_" }) + "martlet.yml"
        }
        // when
        let found = remarks(names + ["Package.swift"])
        // then
        #expect(found.count == NearMiss.maximumRecipes + 1)
        #expect(found.last == "4990 more files look like a recipe and are not read")
    }

    @Test func testThatBesideTheRecipeOnlyItsOtherSpellingsAreSaid() {
        func warnings(_ entries: [String]) -> [String] {
            let project = RecipeReader.Project.recognized(nil, rootEntries: entries)
            return RecipeReader.read(
                bytes: Array("configurations: { a: { build: x } }\n".utf8), file: ".martlet.yml", project: project
            ).diagnostics.map(\.message)
        }
        #expect(warnings([".martlet.yml", "martlet.yml"]).isEmpty, "a service's settings")
        #expect(warnings([".martlet.yml", ".martlet.yaml"]).count == 1)
    }

    @Test func testThatWhereNothingIsRecognizedTheMisnamedRecipeIsTheReason() {
        let project = RecipeReader.Project.recognized(nil, rootEntries: ["martlet.yml", "a"])
        expectContains(RecipeReader.withoutRecipe(project).errors.first?.message ?? "", "martlet.yml")
    }

    @Test(
        .proves(
            .issueHistory,
            "Nearly right names are reported: recipes, bot files, directories, trigger scripts, variables, settings"),
        arguments: [
            ("kit.YML", true), ("Kit.Yaml", true), ("kit.ymal", true), ("kit.yml.txt", true), ("kit.yml", false),
            ("kit.yaml", false), (".kit.yml", false), ("kit.yml~", false), ("kit.yml.bak", false), ("README", false),
            ("kit.yml.disabled", false),
        ])
    func testThatABotFileUnderAnotherNameIsSaid(name: String, isSaid: Bool) async throws {
        try await withTemporaryDirectory { directory in
            // given
            try directory.write("bots/\(name)", "repository: /srv/kit.git\n")
            // when
            let scan = BotDirectory(directory: directory.path("bots")).scan()
            // then
            let found = scan.problems.flatMap(\.diagnostics).filter { $0.severity == .warning }.map(\.message)
            #expect(found.contains { $0.contains("it is not read") } == isSaid, "\(found)")
        }
    }

    @Test(
        .proves(
            .issueHistory,
            "Nearly right names are reported: recipes, bot files, directories, trigger scripts, variables, settings"))
    func testThatATriggersScriptThatCannotRunIsSaid() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let text = "repository: /srv/kit.git\ntriggers: [{ name: tell, run: upload-archive }]\n"
            try directory.write("bots/kit.yml", text)
            let bots = BotDirectory(directory: directory.path("bots"))
            func warnings() -> [String] { bots.scan().problems.flatMap(\.diagnostics).map(\.message) }
            // when, then: the script is missing, has another name, is not executable, is fixed
            expectContains(warnings().first ?? "", "there is no \(directory.path("triggers/upload-archive"))")
            try directory.write("trigger/upload-archive", "", mode: 0o755)
            expectContains(warnings().first ?? "", "\(directory.path("trigger")) is there")
            try directory.write("triggers/upload_archive", "", mode: 0o755)
            expectContains(warnings().first ?? "", "did you mean `upload_archive`?")
            try directory.write("triggers/upload-archive", "", mode: 0o644)
            expectContains(warnings().first ?? "", "is not executable (chmod +x)")
            try directory.write("triggers/upload-archive", "", mode: 0o755)
            #expect(warnings().isEmpty)
            #expect(bots.scan().bots.map(\.name.description) == ["kit"])
        }
    }

    @Test(
        .proves(
            .issueHistory,
            "Nearly right names are reported: recipes, bot files, directories, trigger scripts, variables, settings"),
        arguments: [
            ("MARTLET_TOKKEN", "MARTLET_TOKEN"), ("MARTLET_SERVER", "MARTLET_URL"), ("MARLET_TOKEN", "MARTLET_TOKEN"),
            ("martlet_url", "MARTLET_URL"), ("MARTLET_API_TOKEN", "MARTLET_TOKEN"), ("MARTLET_TOKEN", nil),
            ("MARTLET_URL", nil),
            ("MARTLET_BOT", nil), ("MARTLET_TEST_CANARY", nil), ("MARTLET", nil), ("PATH", nil), ("MARKET_TOKEN", nil),
            ("MARTLET_FAILPOINT", nil), ("MARTLET_REF", nil), ("MARTLET_TAG", nil),
        ])
    func testThatAMisspelledVariableIsSaid(name: String, meant: String?) {
        #expect(NearMiss.variables([name]) == (meant.map { ["\(name) is not read; did you mean \($0)?"] } ?? []))
    }

    @Test(
        .proves(
            .issueHistory,
            "Nearly right names are reported: recipes, bot files, directories, trigger scripts, variables, settings"))
    func testThatMisnamedSettingsAreSaid() async throws {
        try await withTemporaryDirectory { directory in
            // given
            try directory.write("etc/martlet.yaml", "")
            try directory.makeDirectory("etc/secret")
            try directory.makeDirectory("etc/bots")
            // when, then
            let etc = directory.path("etc")
            #expect(NearMiss.settings(inPlaceOf: etc + "/martlet.yml") == etc + "/martlet.yaml")
            #expect(NearMiss.settings(inPlaceOf: directory.path("none/martlet.yml")) == nil)
            #expect(NearMiss.directory(inPlaceOf: etc + "/secrets") == etc + "/secret")
            #expect(NearMiss.directory(inPlaceOf: etc + "/bots") == nil, "it is there")
            #expect(NearMiss.directory(inPlaceOf: etc + "/triggers") == nil)
        }
    }
}
