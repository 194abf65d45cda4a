package import JobProtocol
package import Model

/// Turns a recipe's configuration into the steps of a job: the usual commands of the project's type, or those that the
/// recipe states instead.
package struct JobPlanner: Sendable {
    /// What is known of a commit's tree before anything of it runs.
    package struct Tree: Sendable {
        /// Names in the repository's root.
        package var rootEntries: [String]
        /// The Makefile's text, when there is one.
        package var makefile: String?
        /// Whether a Swift package may have targets with C, C++ or Objective-C sources: whether there are such files. The
        /// manifest says which of them are a target's, and only a job may run that.
        package var hasCSources: Bool

        package init(rootEntries: [String], makefile: String? = nil, hasCSources: Bool = false) {
            self.rootEntries = rootEntries
            self.makefile = makefile
            self.hasCSources = hasCSources
        }
    }

    /// A step that is left out, with the reason that pages and API show.
    package struct Plan: Sendable {
        package var steps: [JobDescription.Step]
        package var collect: [JobDescription.Collect]
        /// Why nothing is analyzed, or nothing when something is.
        package var notAnalyzed: String?
        /// Why nothing is tested, or nothing when something is.
        package var notTested: String?
    }

    /// Directory in the workspace for what we make there; never a repository's own.
    static let ownDirectory = ".martlet"
    /// Build directories that survive a checkout although a repository may not ignore them: ours and SwiftPM's.
    static let keptDirectories = [ownDirectory, ".build"]
    /// The name of the step that analyzes C targets.
    static let clangStep = "clang"
    /// What `martlet-supervisor --analyze-c` prints when there are none.
    static let noCTargets = "no C targets: nothing to analyze"
    /// The name of the step whose output is the list of tests.
    static let listStep = "list"
    static let list = ".martlet/test/list"
    /// What SwiftPM 6 says of a package without test targets.
    static let noTests = "error: no tests found"
    static let eventStream = ".martlet/test/events.jsonl"
    static let xunit = ".martlet/test/tests.xml"

    /// The absolute path of `martlet-supervisor`, which assembles a Swift package's products inside the job.
    private let supervisor: String

    package init(supervisor: String) { self.supervisor = supervisor }

    /// The steps of one configuration: analyze, build, list tests, test, and archive where it is the recipe's archived one.
    /// - Parameter defaultTimeout: A step's, where the configuration states none.
    package func plan(
        configuration: Recipe.Configuration, recipe: Recipe, tree: Tree, defaultTimeout: Duration
    ) -> Plan {
        let commands = Commands(
            configuration: configuration, timeout: configuration.timeout ?? defaultTimeout, supervisor: supervisor)
        var plan = Plan(steps: [], collect: [], notAnalyzed: nil, notTested: nil)
        plan.steps += commands.analysis(recipe: recipe, tree: tree)
        if plan.steps.isEmpty { plan.notAnalyzed = Self.whyNotAnalyzed(recipe: recipe) }

        if let step = commands.build(projectType: recipe.projectType) { plan.steps.append(step) }
        if let step = commands.test(projectType: recipe.projectType, tree: tree) {
            if let list = commands.listTests(projectType: recipe.projectType) { plan.steps.append(list) }
            plan.steps.append(step)
        } else {
            plan.notTested = Self.whyNotTested(recipe: recipe)
        }
        if recipe.archivedConfiguration == configuration.name {
            if let include = recipe.archive.include {
                plan.collect = [.init(patterns: include, base: "")]
            } else if recipe.projectType == .swiftPackage, configuration.build == nil {
                plan.steps.append(commands.archiveProducts())
                plan.collect = [
                    .init(patterns: ["\(Self.ownDirectory)/products/**"], base: "\(Self.ownDirectory)/products")
                ]
            }
        }
        return plan
    }

    /// The plan of a job that was prepared before a restart: its description says what runs.
    package static func plan(of job: JobDescription, recipe: Recipe) -> Plan {
        func has(_ step: JobStep) -> Bool { job.steps.contains { $0.step == step.rawValue } }
        return Plan(
            steps: job.steps, collect: job.collect, notAnalyzed: has(.analyzing) ? nil : whyNotAnalyzed(recipe: recipe),
            notTested: has(.testing) ? nil : whyNotTested(recipe: recipe))
    }

    /// Whether the list of tests says that there is none.
    static func saysNoTests(_ listed: [String]) -> Bool { listed.contains { $0.hasPrefix(noTests) } }

    /// Whether the analyzer of C targets found that there is none.
    static func saysNoCTargets(_ step: JobDescription.Step, _ lines: [String]) -> Bool {
        step.name == clangStep && lines.contains(noCTargets)
    }

    private static func whyNotAnalyzed(recipe: Recipe) -> String {
        recipe.analyze == []
            ? "not analyzed: the recipe says analyze: []"
            : noAnalyzerApplies
    }

    /// What pages and API say where no analyzer has anything to look at.
    static let noAnalyzerApplies =
        "not analyzed: no analyzer applies (swift-format runs where .swift-format is, clang where C targets are)"

    private static func whyNotTested(recipe: Recipe) -> String {
        switch recipe.projectType {
        case .make: "skipped: no tests (the Makefile has neither check nor test)"
        default: "skipped: no tests (the recipe names no test command)"
        }
    }
}

/// The commands of one configuration.
private struct Commands {
    let configuration: Recipe.Configuration
    let timeout: Duration
    let supervisor: String

    func analysis(recipe: Recipe, tree: JobPlanner.Tree) -> [JobDescription.Step] {
        let usual: [Recipe.Analysis] = Recipe.Analysis.Tool.allCases.map { .tool($0) }
        return (recipe.analyze ?? usual).enumerated().compactMap { index, analysis in
            switch analysis {
            case .tool(.swiftFormat):
                guard recipe.analyze != nil || tree.rootEntries.contains(".swift-format") else { return nil }
                return step(
                    .analyzing, "swift-format", ["swift", "format", "lint", "--recursive", "--parallel", "."],
                    isRequired: false)
            case .tool(.clang):
                guard tree.hasCSources else { return nil }
                return step(
                    .analyzing, JobPlanner.clangStep,
                    [
                        supervisor, "--analyze-c", "\(JobPlanner.ownDirectory)/analyze", "--configuration",
                        isOptimised ? "release" : "debug",
                    ], report: ["\(JobPlanner.ownDirectory)/analyze/*.sarif"], isRequired: false)
            case .command(let run, let report):
                return step(
                    .analyzing, "analyze-\(index + 1)", ["/bin/sh", "-c", run], report: report, isRequired: false)
            }
        }
    }

    func build(projectType: ProjectType?) -> JobDescription.Step? {
        if let command = configuration.build { return step(.building, "build", ["/bin/sh", "-c", command]) }
        switch projectType {
        case .swiftPackage: return step(.building, "build", ["swift", "build", "--build-tests"] + swiftFlags)
        case .make: return step(.building, "build", ["make"] + configuration.flags)
        case nil: return nil
        }
    }

    /// XCTest on Linux prints only a test's class; the list says its module. Listing may fail where there are no tests,
    /// which the test step then says.
    func listTests(projectType: ProjectType?) -> JobDescription.Step? {
        guard projectType == .swiftPackage, configuration.test == nil else { return nil }
        return step(
            .testing, JobPlanner.listStep, ["/bin/sh", "-c", Self.listTests, "list"] + swiftFlags, isRequired: false)
    }

    func test(projectType: ProjectType?, tree: JobPlanner.Tree) -> JobDescription.Step? {
        if let command = configuration.test {
            return step(.testing, "test", ["/bin/sh", "-c", command], report: configuration.report)
        }
        switch projectType {
        case .swiftPackage:
            // The event stream is named by version 0: toolchains from 6.0 on write it, and it carries test cases.
            return step(
                .testing, "test",
                ["/bin/sh", "-c", Self.runTests, "test"] + swiftFlags
                    + [
                        "--event-stream-output-path", JobPlanner.eventStream, "--event-stream-version", "0",
                        "--xunit-output", JobPlanner.xunit,
                    ],
                report: [JobPlanner.eventStream, ".martlet/test/tests*.xml"] + configuration.report)
        case .make:
            guard let target = Self.testTarget(makefile: tree.makefile ?? "") else { return nil }
            return step(.testing, "test", ["make", target] + configuration.flags, report: configuration.report)
        case nil:
            return nil
        }
    }

    private static let listTests = """
        swift test list --skip-build "$@" > \(JobPlanner.list) 2>&1; status=$?; cat \(JobPlanner.list); exit $status
        """

    /// A package without a test target is no failure, although `swift test` exits with 1 for it (6.3.1).
    ///
    /// SwiftPM holds back what XCTest prints until its buffer is full (6.3.1). Ended at a limit it would take that along, and
    /// nobody would know which test was running; `stdbuf` of coreutils, where it is, has every line written at once.
    private static let runTests = """
        if grep -q '^\(JobPlanner.noTests)' \(JobPlanner.list); then echo 'no tests'; exit 0; fi
        lines=; if command -v stdbuf >/dev/null; then lines='stdbuf -oL'; fi
        exec $lines swift test --skip-build "$@"
        """

    /// Builds in a scratch path of its own: the test build has testing enabled, which optimised products must not have.
    func archiveProducts() -> JobDescription.Step {
        step(
            .archiving, "archive",
            [
                supervisor, "--archive-products", "\(JobPlanner.ownDirectory)/products", "--scratch-path",
                "\(JobPlanner.ownDirectory)/archive-build", "--configuration", isOptimised ? "release" : "debug", "--",
            ] + flagsWithoutConfiguration)
    }

    private var isOptimised: Bool {
        let flags = configuration.flags
        return flags.contains("--configuration=release")
            || zip(flags, flags.dropFirst()).contains { ["-c", "--configuration"].contains($0) && $1 == "release" }
    }

    /// `@testable import` needs `-enable-testing`, which SwiftPM passes in debug builds only.
    private var swiftFlags: [String] {
        configuration.flags + (isOptimised ? ["-Xswiftc", "-enable-testing"] : [])
    }

    private var flagsWithoutConfiguration: [String] {
        var kept: [String] = []
        var skipsNext = false
        for flag in configuration.flags {
            if skipsNext {
                skipsNext = false
            } else if flag == "-c" || flag == "--configuration" {
                skipsNext = true
            } else if !flag.hasPrefix("--configuration=") {
                kept.append(flag)
            }
        }
        return kept
    }

    /// `check` by the GNU coding standards ("Standard Targets for Users"), else the widespread `test`.
    private static func testTarget(makefile: String) -> String? {
        let targets = makefile.split(whereSeparator: \.isNewline).flatMap { line -> [Substring] in
            guard let colon = line.firstIndex(of: ":"), !line.hasPrefix("\t"), !line.hasPrefix("#"),
                !line.hasPrefix(".PHONY"), line[colon...].hasPrefix("::") || !line[colon...].hasPrefix(":=")
            else { return [] }
            return line[..<colon].split(separator: " ")
        }
        return ["check", "test"].first { name in targets.contains { $0 == name } }
    }

    private func step(
        _ step: JobStep, _ name: String, _ arguments: [String], report: [String] = [], isRequired: Bool = true
    ) -> JobDescription.Step {
        .init(
            step: step.rawValue, name: name, arguments: arguments, environment: [:], workingDirectory: ".",
            timeoutMilliseconds: timeout.milliseconds, report: report, isRequired: isRequired, secrets: [],
            network: .full)
    }
}
