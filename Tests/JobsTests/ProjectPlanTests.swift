import BotSupport
import JobProtocol
import Model
import TestSupport
import Testing

@testable import Jobs

/// The steps of each type of project, made from its row.
@Suite struct ProjectPlanTests {
    private func plan(
        _ type: ProjectType, flags: [String] = [], isSandboxed: Bool = true, archive: Recipe.Archive = .init(),
        filter: String? = nil, names: [String] = [], manifest: String? = nil,
        change: (inout Recipe.Configuration) -> Void = { _ in }
    ) throws -> JobPlanner.Plan {
        var configuration = try Samples.configuration()
        configuration.flags = flags
        change(&configuration)
        let recipe = Recipe(configurations: [configuration], archive: archive, projectType: type)
        return JobPlanner(tools: "/s").plan(
            configuration: configuration, recipe: recipe, archived: recipe.archivedConfiguration,
            tree: .init(rootEntries: names + type.profile.markers.prefix(1), manifest: manifest),
            defaultTimeout: .seconds(9), isSandboxed: isSandboxed, testFilter: filter)
    }

    @Test(
        .proves(
            .steps,
            "CMake, Make, Cargo, Go, npm, Python, Maven: resolve, analyze, build, test, archive; only resolving has the network"
        ),
        arguments: [
            (.cargo, ["resolve", "clippy", "build", "test", "archive"]),
            (.go, ["resolve", "vet", "build", "test", "archive"]),
            (.maven, ["resolve", "build", "test", "archive"]), (.cmake, ["cppcheck", "build", "test", "archive"]),
            (.python, ["resolve", "build", "test", "archive"]), (.npm, ["resolve", "build", "test", "archive"]),
            (.make, ["build", "archive"]), (.swiftPackage, ["build", "list", "test", "archive"]),
            (.meson, ["resolve", "build", "test", "archive"]), (.autotools, ["build", "test", "archive"]),
            (.gradle, ["resolve", "build", "test", "archive"]), (.dotnet, ["resolve", "build", "test", "archive"]),
            (.composer, ["resolve", "test", "archive"]), (.bundler, ["resolve", "test", "archive"]),
            (.perl, ["resolve", "build", "test", "archive"]), (.mix, ["resolve", "build", "test", "archive"]),
            (.lua, ["resolve", "test"]), (.dune, ["build", "test", "archive"]),
            (.stack, ["resolve", "build", "test", "archive"]), (.cabal, ["resolve", "build", "test", "archive"]),
            (.zig, ["resolve", "build", "test", "archive"]), (.bazel, ["resolve", "build", "test", "archive"]),
            (.rebar3, ["resolve", "build", "test", "archive"]), (.shell, ["shellcheck", "test"]),
        ] as [(ProjectType, [String])])
    func testThatEachTypeHasItsStepsAndOnlyResolvingHasTheNetwork(_ type: ProjectType, _ names: [String]) throws {
        for isSandboxed in [true, false] {
            // when
            let plan = try plan(type, isSandboxed: isSandboxed)
            // then
            #expect(plan.steps.map(\.name) == names)
            for step in plan.steps { #expect((step.network == .full) == (step.name == "resolve"), "\(step.name)") }
            #expect(plan.steps.first { $0.name == "resolve" }.map(\.step) ?? "building" == "building")
            #expect(plan.collect.map(\.base) == (names.contains("archive") ? [".martlet/products"] : []))
        }
    }

    @Test(
        arguments: [
            (.cargo, ["clippy", "build", "test", "archive"]), (.go, ["build", "test", "archive"]),
            (.maven, ["resolve", "build", "test", "archive"]), (.cmake, ["cppcheck", "build"]), (.python, ["test"]),
            (.npm, ["test"]),
            (.make, ["build", "test", "archive"]),
        ] as [(ProjectType, [String])])
    func testThatFlagsGoWhereTheyMeanSomething(_ type: ProjectType, _ names: [String]) throws {
        // when
        let plan = try plan(type, flags: ["--flag=1"], manifest: "all:\ncheck:\n")
        // then
        #expect(plan.steps.filter { $0.arguments.last == "--flag=1" }.map(\.name) == names)
    }

    @Test(
        arguments: [
            (.cargo, [], nil, "clippy"), (.npm, ["eslint.config.mjs"], nil, "eslint"), (.npm, [], nil, nil),
            (.python, [".flake8"], nil, "flake8"), (.python, [], "[tool.mypy]\n", "mypy"),
            (.python, [".pylintrc"], nil, "pylint"),
            (.swiftPackage, [".swiftlint.yml"], nil, "swiftlint"), (.swiftPackage, [], nil, nil),
            (.maven, [], nil, nil),
            (.python, ["ruff.toml"], nil, "ruff"), (.python, [], "[project]\n[tool.ruff.lint]\n", "ruff"),
            (.python, [], "# [tool.ruff]\n", nil), (.go, [], nil, "vet"), (.cmake, [], nil, "cppcheck"),
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
        let others = ProjectType.allCases.filter { $0 != .swiftPackage && $0.profile.test?.filter == nil }
        #expect(others.contains(.make) && !others.contains(.cargo))
        for type in others {
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
        #expect(plan.steps.map(\.name) == ["resolve", "clippy", "build", "test"])
        #expect(plan.steps[2].arguments == ShellCommand.arguments(for: "cargo xtask"))
    }

    @Test(
        .proves(
            .reports,
            "What tests nothing is not published, also muted or `when: always`, unless the recipe says `test: none`"),
        arguments: ProjectType.allCases)
    func testThatNoKindTestsIfTheRecipeSaysNone(_ type: ProjectType) throws {
        // when
        let plan = try plan(type, manifest: "all:\ncheck:\n") { $0.testsNothing = true }
        // then
        #expect(!plan.steps.contains { $0.step == "testing" })
        #expect(plan.notTested == "not tested: the recipe says test: none")
        #expect(plan.whyUntested == nil)
        // A filter cannot choose among none
        var configuration = try Samples.configuration()
        configuration.testsNothing = true
        let recipe = Recipe(configurations: [configuration], projectType: type)
        #expect(JobPlanner.whyNoFilter(configuration, recipe: recipe) == "its recipe says test: none")
        #expect(recipe.mayTestNothing(configuration))
    }

    /// Without a recipe: `debug` of the first type, and a configuration for each type with tests.
    @Test func testThatAKindWithoutTestsMayTestNothingBesideOnesThatAreTested() throws {
        // given
        let first = try Samples.configuration("debug")
        var server = try Samples.configuration("server")
        server.projectType = .go
        var recipe = Recipe(configurations: [first, server], projectType: .make)
        recipe.recognition = .init(type: .make, marker: "Makefile")
        recipe.recognition?.hasNoTests = true
        // when, then
        #expect(recipe.mayTestNothing(first))
        #expect(!recipe.mayTestNothing(server))
        recipe.recognition?.hasNoTests = nil
        #expect(!recipe.mayTestNothing(first), "its tests were expected to run")
        #expect(!Recipe(configurations: [first], projectType: .make).mayTestNothing(first))
    }

    @Test func testThatStepsOfTheRecipeAreAllThatRuns() throws {
        // when
        let plan = try plan(.npm) {
            $0.steps = [.init(name: Name(nearest: "mine"), kind: .testing, command: .init(run: "node test.js"))]
        }
        // then
        #expect(plan.steps.map(\.name) == ["mine"])
    }

    @Test func testThatAKindOfAConfigurationsOwnRunsInItsDirectory() throws {
        // when
        let plan = try plan(.cargo) { ($0.projectType, $0.directory) = (.go, "server") }
        // then
        #expect(plan.steps.map(\.name) == ["resolve", "vet", "build", "test", "archive"])
        for step in plan.steps {
            #expect(step.arguments[2].contains("cd 'server' || exit\nln -sfn ../.martlet .martlet || exit\n"))
            #expect(step.workingDirectory == ".")
        }
        // Its own exit status shows that there
        #expect(plan.steps.filter(JobCommands.isOwn).map(\.name) == ["test"])
    }

    @Test(
        arguments: [
            ("install:\n\tcp a b\nall: kit\ncheck: kit\n", [["make", "all"], ["make", "check"]]),
            ("check: kit\n\t./kit\n", [["make", "kit"], ["make", "check"]]),
            (
                "install:\n\tcp a b\n",
                [
                    [
                        "/bin/sh", "-c",
                        #"echo "the Makefile has no target that builds: its first one, $1, is not run""#, "build",
                        "install",
                    ]
                ]
            ),
        ])
    func testThatAMakefileIsNotAskedToInstall(_ manifest: String, _ commands: [[String]]) throws {
        // when
        let plan = try plan(.make, manifest: manifest) { $0.directory = "src" }
        // then
        #expect(plan.steps.filter { $0.name != "archive" }.map(\.arguments) == commands)
        #expect(plan.steps.filter { $0.name != "archive" }.allSatisfy { $0.workingDirectory == "src" })
    }

    @Test func testThatAReportOfTheRecipeIsReadBesideTheUsualOne() throws {
        // when
        let plan = try plan(.python) { $0.report = ["more.xml"] }
        // then
        #expect(plan.steps.first { $0.name == "test" }?.report == [".martlet/test/pytest.xml", "more.xml"])
    }
}
