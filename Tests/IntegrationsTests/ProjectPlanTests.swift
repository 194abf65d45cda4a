import JobProtocol
import Model
import TestSupport
import Testing

@testable import Integrations

/// The steps of each type of project, made of its row.
@Suite struct ProjectPlanTests {
    private func plan(
        _ type: ProjectType, flags: [String] = [], isFenced: Bool = true, archive: Recipe.Archive = .init(),
        filter: String? = nil, names: [String] = [], manifest: String? = nil,
        change: (inout Recipe.Configuration) -> Void = { _ in }
    ) throws -> JobPlanner.Plan {
        var configuration = try Samples.configuration()
        configuration.flags = flags
        change(&configuration)
        return JobPlanner(supervisor: "/s").plan(
            configuration: configuration,
            recipe: Recipe(configurations: [configuration], archive: archive, projectType: type),
            tree: .init(rootEntries: names + type.profile.markers.prefix(1), manifest: manifest),
            defaultTimeout: .seconds(9), isFenced: isFenced, testFilter: filter)
    }

    @Test(
        arguments: [
            (.cargo, ["resolve", "build", "test", "archive"]), (.go, ["resolve", "vet", "build", "test", "archive"]),
            (.maven, ["resolve", "build", "test", "archive"]), (.cmake, ["build", "test", "archive"]),
            (.python, ["resolve", "build", "test", "archive"]), (.npm, ["resolve", "build", "test", "archive"]),
            (.make, ["build"]), (.swiftPackage, ["build", "list", "test", "archive"]),
        ] as [(ProjectType, [String])])
    func testThatEachTypeHasItsStepsAndOnlyResolvingHasTheNetwork(_ type: ProjectType, _ names: [String]) throws {
        for isFenced in [true, false] {
            // when
            let plan = try plan(type, isFenced: isFenced)
            // then
            #expect(plan.steps.map(\.name) == names)
            for step in plan.steps { #expect((step.network == .full) == (step.name == "resolve"), "\(step.name)") }
            #expect(plan.steps.first { $0.name == "resolve" }.map(\.step) ?? "building" == "building")
            #expect(plan.collect.map(\.base) == (type == .make ? [] : [".martlet/products"]))
        }
    }

    @Test(
        arguments: [
            (.cargo, ["clippy", "build", "test", "archive"]), (.go, ["build", "test", "archive"]),
            (.maven, ["resolve", "build", "test", "archive"]), (.cmake, ["build"]), (.python, ["test"]),
            (.npm, ["test"]),
            (.make, ["build", "test"]),
        ] as [(ProjectType, [String])])
    func testThatFlagsGoWhereTheyMeanSomething(_ type: ProjectType, _ names: [String]) throws {
        // when
        let plan = try plan(type, flags: ["--flag=1"], names: ["clippy.toml"], manifest: "check:\n")
        // then
        #expect(plan.steps.filter { $0.arguments.last == "--flag=1" }.map(\.name) == names)
    }

    @Test(
        arguments: [
            (.cargo, [".clippy.toml"], nil, "clippy"), (.cargo, [], "[lints.rust]\n", "clippy"), (.cargo, [], nil, nil),
            (.python, ["ruff.toml"], nil, "ruff"), (.python, [], "[project]\n[tool.ruff.lint]\n", "ruff"),
            (.python, [], "# [tool.ruff]\n", nil), (.go, [], nil, "vet"), (.cmake, [], nil, nil),
        ] as [(ProjectType, [String], String?, String?)])
    func testThatAnAnalyzerRunsWhereTheProjectIsSetUpForIt(
        _ type: ProjectType, _ names: [String], _ manifest: String?, _ analyzer: String?
    ) throws {
        // when
        let plan = try plan(type, names: names, manifest: manifest)
        // then
        let analyses = plan.steps.filter { $0.step == "analyzing" }
        #expect(analyses.map(\.name) == [analyzer].compactMap(\.self))
        #expect(analyses.allSatisfy { !$0.isRequired })
        #expect((plan.notAnalyzed == nil) == (analyzer != nil))
    }

    @Test(
        arguments: [
            (.go, ["-run=^TestIt$"]), (.cmake, ["--tests-regex", "^TestIt$"]),
        ] as [(ProjectType, [String])])
    func testThatTestsAreChosenByAFilterWhereTheToolTakesOne(_ type: ProjectType, _ arguments: [String]) throws {
        // when
        let plan = try plan(type, filter: "^TestIt$")
        // then
        let test = try #require(plan.steps.first { $0.name == "test" })
        #expect(test.arguments.suffix(arguments.count) == arguments[...])
        #expect(plan.steps.filter { $0.arguments.contains { $0.contains("TestIt") } }.count == 1)
        let recipe = Recipe(configurations: [try Samples.configuration()], projectType: type)
        #expect(JobPlanner.whyNoFilter(recipe.configurations[0], recipe: recipe) == nil)
    }

    @Test func testThatTheOtherTypesSayThatTheyTakeNone() throws {
        for type in [ProjectType.cargo, .maven, .python, .npm, .make] {
            let recipe = Recipe(configurations: [try Samples.configuration()], projectType: type)
            #expect(
                JobPlanner.whyNoFilter(recipe.configurations[0], recipe: recipe)
                    == "the tests of a \(type.profile.title) take no filter")
        }
    }

    @Test func testThatCommandsOfTheRecipeReplaceTheUsualOnesAndTheDependenciesAreStillResolved() throws {
        // when
        let plan = try plan(.cargo) { $0.build = "cargo xtask" }
        // then
        #expect(plan.steps.map(\.name) == ["resolve", "build", "test"])
        #expect(plan.steps[1].arguments == ShellCommand.arguments(for: "cargo xtask"))
    }

    @Test func testThatStepsOfTheRecipeAreAllThatRuns() throws {
        // when
        let plan = try plan(.npm) {
            $0.steps = [.init(name: Name(nearest: "mine"), kind: .testing, command: .init(run: "node test.js"))]
        }
        // then
        #expect(plan.steps.map(\.name) == ["mine"])
    }

    @Test func testThatAReportOfTheRecipeIsReadBesideTheUsualOne() throws {
        // when
        let plan = try plan(.python) { $0.report = ["more.xml"] }
        // then
        #expect(plan.steps.first { $0.name == "test" }?.report == [".martlet/test/pytest.xml", "more.xml"])
    }
}
