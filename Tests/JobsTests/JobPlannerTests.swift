import BotSupport
import JobProtocol
import Model
import TestSupport
import Testing

@testable import Jobs

/// The usual commands, as docs/guide/projects.md has them.
@Suite struct JobPlannerTests {
    func plan(
        _ configuration: Recipe.Configuration, type: ProjectType?, analyze: [Recipe.Analysis]? = [],
        archive: Recipe.Archive = .init(include: []), tree: JobPlanner.Tree = .init(rootEntries: []),
        isSandboxed: Bool = false
    ) -> JobPlanner.Plan {
        let recipe = Recipe(configurations: [configuration], analyze: analyze, archive: archive, projectType: type)
        return JobPlanner(tools: "/lib/martlet-tools").plan(
            configuration: configuration, recipe: recipe, archived: recipe.archivedConfiguration, tree: tree,
            defaultTimeout: .seconds(1800), isSandboxed: isSandboxed)
    }

    private func commands(_ plan: JobPlanner.Plan) -> [String] {
        plan.steps.map { "\($0.step): \($0.arguments.joined(separator: " "))" }
    }

    static let packageTree = JobPlanner.Tree(rootEntries: ["Package.swift", "Sources", "Tests"])

    @Suite struct GivenASwiftPackage {
        private let outer = JobPlannerTests()

        @Test(
            .proves(
                .steps,
                "Build and test a Swift package: `swift build --build-tests`, `swift test --skip-build` with event stream and xUnit"
            ))
        func testThatItBuildsTestsAndTestsWithoutBuildingAgain() throws {
            // given
            let debug = try Samples.configuration()

            // when
            let plan = outer.plan(debug, type: .swiftPackage, tree: packageTree)

            // then
            #expect(plan.steps.map(\.step) == ["building", "testing", "testing"])
            #expect(plan.steps[0].arguments == ["swift", "build", "--build-tests"])
            expectContains(plan.steps[1].arguments[2], "swift test list --skip-build \"$@\"")
            expectContains(plan.steps[2].arguments[2], "$lines swift test --skip-build \"$@\"")
            #expect(
                plan.steps[2].arguments.dropFirst(4) == [
                    "--event-stream-output-path", ".martlet/test/events.jsonl", "--event-stream-version", "0",
                    "--xunit-output", ".martlet/test/tests.xml",
                ])
            #expect(plan.steps[2].report == [".martlet/test/events.jsonl", ".martlet/test/tests*.xml"])
            #expect(plan.steps.map(\.isRequired) == [true, false, true], "a list of tests stops nothing")
            #expect(plan.steps.allSatisfy { $0.timeoutMilliseconds == 1_800_000 })
        }

        @Test(
            .proves(.steps, "Optimized configurations get `-enable-testing` in build and test"),
            arguments: [["-c", "release"], ["--configuration", "release"], ["--configuration=release"]])
        func testThatAnOptimizedConfigurationEnablesTestingInBuildAndTest(flags: [String]) throws {
            // given
            var release = try Samples.configuration("release")
            release.flags = flags

            // when
            let plan = outer.plan(release, type: .swiftPackage, tree: packageTree)

            // then
            let all = flags + ["-Xswiftc", "-enable-testing"]
            #expect(plan.steps[0].arguments == ["swift", "build", "--build-tests"] + all)
            #expect(plan.steps[1].arguments.dropFirst(4) == all[...])
            #expect(plan.steps[2].arguments.dropFirst(4).starts(with: all))
        }

        @Test func testThatFlagsOfAnotherConfigurationDoNotEnableTesting() throws {
            // given
            var configuration = try Samples.configuration()
            configuration.flags = ["-c", "debug", "-Xswiftc", "release"]

            // when
            let plan = outer.plan(configuration, type: .swiftPackage, tree: packageTree)

            // then
            #expect(plan.steps.allSatisfy { !$0.arguments.contains("-enable-testing") })
        }

        @Test(.proves(.steps, "Archive in a scratch path of its own, never by the test build"))
        func testThatProductsAreBuiltApartFromTheTestsAndWithoutTheirFlags() throws {
            // given
            var release = try Samples.configuration("release")
            release.flags = ["-c", "release", "--sanitize=address"]

            // when
            let plan = outer.plan(release, type: .swiftPackage, archive: .init(), tree: packageTree)

            // then
            #expect(
                outer.commands(plan).last
                    == "archiving: /lib/martlet-tools --archive-products .martlet/products "
                    + "--scratch-path .martlet/archive-build --configuration release -- --sanitize=address")
            #expect(plan.collect == [.init(patterns: [".martlet/products/**"], base: ".martlet/products")])
        }

        @Test(.proves(.steps, "From the configuration `release`, else the first; `include` names files instead"))
        func testThatFilesThatTheRecipeNamesReplaceTheProducts() throws {
            // given, when
            let plan = outer.plan(
                try Samples.configuration(), type: .swiftPackage, archive: .init(include: ["products/**"]),
                tree: packageTree)

            // then
            #expect(!plan.steps.contains { $0.step == "archiving" })
            #expect(plan.collect == [.init(patterns: ["products/**"], base: "")])
        }

        @Test func testThatOnlyOneConfigurationIsArchived() throws {
            // given
            let (debug, release) = (try Samples.configuration(), try Samples.configuration("release"))
            let recipe = Recipe(configurations: [debug, release], analyze: [], projectType: .swiftPackage)
            let planner = JobPlanner(tools: "/s")

            // when
            let plans = [debug, release].map {
                planner.plan(
                    configuration: $0, recipe: recipe, archived: recipe.archivedConfiguration, tree: packageTree,
                    defaultTimeout: .seconds(9))
            }

            // then
            #expect(plans.map { $0.steps.contains { $0.step == "archiving" } } == [false, true])
            #expect(plans.map(\.collect.isEmpty) == [true, false])
        }
    }

    @Suite struct GivenASandbox {
        private let outer = JobPlannerTests()
        private static let depending = JobPlanner.Tree(
            rootEntries: ["Package.swift", ".swift-format", "Tests"], hasDependencies: true)

        @Test(.proves(.sandbox, "Network only in `resolve` and where the recipe says `network: full`"))
        func testThatDependenciesAreResolvedFirstAndNothingElseHasTheNetwork() throws {
            // when
            let plan = outer.plan(
                try Samples.configuration(), type: .swiftPackage, analyze: nil, archive: .init(), tree: Self.depending,
                isSandboxed: true)

            // then
            #expect(plan.steps.map(\.name) == ["resolve", "swift-format", "build", "list", "test", "archive"])
            #expect(plan.steps.map(\.network) == [.full, .none, .none, .none, .none, .none])
            #expect(plan.steps[0].step == "building")
            #expect(plan.steps[0].arguments.dropFirst(4) == [".martlet/archive-build"], "the products' build as well")
        }

        @Test func testThatItIsToldWhichFlagsPlaceThings() throws {
            // given
            var configuration = try Samples.configuration()
            configuration.flags = ["-c", "release", "--package-path", "sub", "--traits=A,B", "-Xswiftc", "-DX"]

            // when
            let plan = outer.plan(configuration, type: .swiftPackage, tree: Self.depending, isSandboxed: true)

            // then
            #expect(plan.steps[0].arguments.dropFirst(4) == ["", "--package-path", "sub", "--traits=A,B"])
        }

        @Test(
            .proves(
                .sandbox,
                "A package without dependencies has no `resolve`; one whose dependencies are as before ends it at once")
        )
        func testThatNothingIsResolvedWhereNothingIsToBe() throws {
            // given
            let debug = try Samples.configuration()
            var open = debug
            open.network = .full
            var own = debug
            own.steps = [.init(name: try Samples.name("a"), kind: .building, command: .init(run: "x"))]
            func resolves(
                _ configuration: Recipe.Configuration, _ type: ProjectType?, _ tree: JobPlanner.Tree,
                _ isSandboxed: Bool
            )
                -> Bool
            {
                outer.plan(configuration, type: type, tree: tree, isSandboxed: isSandboxed).steps.contains {
                    $0.name == "resolve"
                }
            }

            // then
            #expect(resolves(debug, .swiftPackage, Self.depending, true))
            #expect(!resolves(debug, .swiftPackage, packageTree, true), "no dependencies")
            #expect(!resolves(debug, .swiftPackage, Self.depending, false), "no sandbox: the build has the network")
            #expect(!resolves(debug, .make, Self.depending, true))
            #expect(!resolves(open, .swiftPackage, Self.depending, true), "the build has the network")
            #expect(!resolves(own, .swiftPackage, Self.depending, true), "the recipe says all that runs")
        }

        @Test func testThatTheRecipesNetworkIsEveryStepsOfTheConfiguration() throws {
            // given
            var configuration = try Samples.configuration()
            configuration.network = .full

            // when, then
            let plan = outer.plan(
                configuration, type: .swiftPackage, analyze: nil, tree: Self.depending, isSandboxed: true)
            #expect(plan.steps.allSatisfy { $0.network == .full })
        }
    }

    @Suite struct GivenAManifest {
        @Test(
            .proves(
                .sandbox,
                "A package without dependencies has no `resolve`; one whose dependencies are as before ends it at once"),
            arguments: [
                (".package(url: \"https://h/a\", from: \"1.0.0\")", true),
                ("dependencies: [ .\n  package (path: \"a\")", true),
                ("Package.Dependency.`package`(url: u)", true), ("let p = Package.Dependency.package", true),
                ("let package = Package(name: \"kit\", targets: [.target(name: \"kit\")])", false),
                ("// swift-tools-version: 6.0\nimport PackageDescription\n", false), ("", false), (".packag", false),
            ])
        func testThatItsTextSaysWhetherItMayDependOnOthers(manifest: String, mayDepend: Bool) {
            #expect(PackageDependencies.mayExist(inManifests: [[], Array(manifest.utf8)]) == mayDepend)
        }

        @Test func testThatManifestsOfToolsVersionsCountAsWell() {
            #expect(PackageDependencies.isManifest("Package.swift"))
            #expect(PackageDependencies.isManifest("Package@swift-6.1.swift"))
            #expect(!PackageDependencies.isManifest("Package.resolved"))
        }
    }

    @Suite(.proves(.steps, "Make: `make`, then `make check`, else `make test`"))
    struct GivenAMakefile {
        private let outer = JobPlannerTests()

        @Test(arguments: [
            ("all:\n\tcc kit.c\ncheck: all\n\t./t\ntest: all\n", "check"), ("all:\ntest:\n\t./t\n", "test"),
            ("all check:\n\t./t\n", "check"), ("all:\ncheck::\n\t./t\n", "check"),
        ])
        func testThatItRunsCheckElseTest(makefile: String, target: String) throws {
            // given
            var configuration = try Samples.configuration()
            configuration.flags = ["DEBUG=1"]

            // when
            let plan = outer.plan(
                configuration, type: .make,
                tree: .init(rootEntries: ["Makefile"], manifest: makefile))

            // then
            #expect(outer.commands(plan) == ["building: make DEBUG=1", "testing: make \(target) DEBUG=1"])
            #expect(plan.notTested == nil)
        }

        @Test(arguments: [
            "all:\n\tcc kit.c\n", "check := 1\nall:\n", "# check:\nall:\n", ".PHONY: check\nall:\n", "checks:\n",
            "all:\n\tcheck: 1\n", "check ?= http://x\nall:\n", "$(info check: no)\nall:\n",
        ])
        func testThatWithoutEitherItSaysSo(makefile: String) throws {
            // given, when
            let plan = outer.plan(
                try Samples.configuration(), type: .make,
                tree: .init(rootEntries: ["Makefile"], manifest: makefile))

            // then
            #expect(outer.commands(plan) == ["building: make"])
            #expect(plan.notTested == "skipped: no tests (the Makefile has neither check nor test)")
            #expect(plan.whyUntested == "the Makefile has neither check nor test")
        }
    }

    @Suite struct GivenCommandsInTheRecipe {
        private let outer = JobPlannerTests()

        @Test(.proves(.steps, "Commands of the recipe replace the usual ones"))
        func testThatTheyReplaceTheUsualOnesAndKeepTheirReport() throws {
            // given
            var configuration = try Samples.configuration("nightly")
            configuration.build = "make all"
            configuration.test = "make check"
            configuration.report = ["build/junit.xml"]
            configuration.timeout = .seconds(60)

            // when
            let plan = outer.plan(configuration, type: .swiftPackage, tree: packageTree)

            // then
            #expect(
                plan.steps.map(\.arguments) == ["make all", "make check"].map { ShellCommand.arguments(for: $0) })
            #expect(plan.steps.last?.report == ["build/junit.xml"])
            #expect(plan.steps.allSatisfy { $0.timeoutMilliseconds == 60_000 })
        }

        @Test func testThatNoTestCommandIsSaidAndNotPassedOver() throws {
            // given
            var configuration = try Samples.configuration()
            configuration.build = "ninja"

            // when
            let plan = outer.plan(configuration, type: nil)

            // then
            #expect(plan.steps.map(\.arguments) == [ShellCommand.arguments(for: "ninja")])
            #expect(plan.notTested == "skipped: no tests (the recipe names no test command)")
        }
    }

    @Test(
        .proves(
            .steps,
            "Steps that a recipe writes out: name, kind, command, environment, time-out, working directory, network, report, secrets"
        ))
    func testThatWhyNothingIsTestedIsTheSameAfterARestart() throws {
        // given: written steps, and one command
        var written = try Samples.configuration("written")
        written.steps = [
            Recipe.Step(name: try Samples.name("compile"), kind: .building, command: Recipe.Command(run: "make"))
        ]
        var usual = try Samples.configuration("usual")
        usual.build = "make"
        for configuration in [written, usual] {
            let recipe = Recipe(
                configurations: [configuration], analyze: [], archive: .init(include: []), projectType: nil)
            let planned = plan(configuration, type: nil)

            // when
            let job = JobDescription(steps: planned.steps, workspace: "/w")
            let takenUp = JobPlanner.plan(of: job, configuration: configuration, recipe: recipe)

            // then
            #expect(takenUp.notTested != nil)
            #expect(takenUp.notTested == planned.notTested)
            #expect(takenUp.whyUntested != nil)
            #expect(takenUp.whyUntested == planned.whyUntested)
            #expect(takenUp.notAnalyzed == planned.notAnalyzed)
        }
    }

    @Suite struct WhenItAnalyzes {
        private let outer = JobPlannerTests()

        @Test(
            .proves(.steps, "Analyze as a step of its own, before build"),
            .proves(.steps, "`swift format lint` where `.swift-format` is"))
        func testThatSwiftFormatRunsWhereItsFileIs() throws {
            // given
            let tree = JobPlanner.Tree(rootEntries: ["Package.swift", ".swift-format", "Tests"])

            // when
            let plan = outer.plan(try Samples.configuration(), type: .swiftPackage, analyze: nil, tree: tree)

            // then
            #expect(
                outer.commands(plan).first == "analyzing: swift format lint --recursive --parallel .")
            #expect(plan.steps.first?.isRequired == false, "findings do not stop the build")
            #expect(plan.notAnalyzed == nil)
        }

        @Test(
            .proves(
                .steps,
                "`clang --analyze` with SARIF for C targets, wherever they lie, with the options that their manifest gives them"
            ))
        func testThatClangRunsForCSources() throws {
            // given
            let tree = JobPlanner.Tree(rootEntries: ["Package.swift", "Tests"], hasCSources: true)

            // when
            let plan = outer.plan(try Samples.configuration(), type: .swiftPackage, analyze: nil, tree: tree)

            // then
            #expect(
                outer.commands(plan).first
                    == "analyzing: /lib/martlet-tools --analyze-c .martlet/analyze --configuration debug")
            #expect(plan.steps.first?.name == "clang")
            #expect(plan.steps.first?.report == [".martlet/analyze/*.sarif"])
        }

        @Test(.proves(.steps, "A recipe's own analysis may be called `clang`, as the service's"))
        func testThatARecipesOwnAnalysisMayHaveTheServicesName() throws {
            // given
            let tree = JobPlanner.Tree(rootEntries: ["Package.swift", "Tests"], hasCSources: true)
            let configuration = try Samples.configuration()
            let own = Recipe.Analysis.command(.init(run: "./clang.sh"), name: try Samples.name("clang"))

            // when
            let plan = outer.plan(configuration, type: .swiftPackage, analyze: [.tool(.clang), own], tree: tree)
            let (_, steps) = JobPlanner.environments(
                ["MARTLET_COMMIT": "c"], steps: plan.steps, configuration: configuration, projectType: .swiftPackage)

            // then
            #expect(steps.prefix(2).map(\.name) == ["clang", "clang"])
            #expect(steps.prefix(2).map { JobPlanner.saysNoCTargets($0, [JobPlanner.noCTargets]) } == [true, false])
            #expect(steps.prefix(2).map { $0.environment["MARTLET_COMMIT"] } == [nil, "c"])
        }

        @Test(.proves(.steps, "`{run, report}` for anything"))
        func testThatAnyCommandRunsWithItsReport() throws {
            // given, when
            let plan = outer.plan(
                try Samples.configuration(), type: .make,
                analyze: [.command(.init(run: "./lint.sh", report: ["lint.sarif"]))])

            // then
            #expect(plan.steps.first?.arguments == ShellCommand.arguments(for: "./lint.sh"))
            #expect(plan.steps.first?.report == ["lint.sarif"])
        }

        @Test(
            .proves(.steps, "Where no analyzer applies, \"not analyzed\""),
            arguments: [(nil, "no analyzer applies"), ([], "the recipe says analyze: []")]
                as [([Recipe.Analysis]?, String)])
        func testThatNoAnalysisIsSaid(analyze: [Recipe.Analysis]?, reason: String) throws {
            // given, when
            let plan = outer.plan(try Samples.configuration(), type: .make, analyze: analyze)

            // then
            #expect(plan.notAnalyzed?.hasPrefix("not analyzed: \(reason)") == true)
        }
    }
}
