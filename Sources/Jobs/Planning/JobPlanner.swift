package import JobProtocol
package import Model

/// Turns a recipe's configuration into the steps of a job. These are the default commands of the project's type, or those that the recipe states
/// instead.
package struct JobPlanner: Sendable {
    /// The known facts about a commit's tree before any of its commands run.
    package struct Tree: Sendable {
        /// The names in the repository's root.
        package var rootEntries: [String]
        /// The text of the file that determines the project's type; `nil` if it is missing or too large.
        package var manifest: String?
        /// Whether the repository contains C, C++ or Objective-C sources, so that a Swift package may have targets with them. Only the manifest
        /// states which files belong to a target, and only a job may run the manifest.
        package var hasCSources: Bool
        /// Whether a Swift package may depend on others; see `PackageDependencies`.
        package var hasDependencies: Bool

        package init(
            rootEntries: [String], manifest: String? = nil, hasCSources: Bool = false, hasDependencies: Bool = false
        ) {
            self.rootEntries = rootEntries
            self.manifest = manifest
            self.hasCSources = hasCSources
            self.hasDependencies = hasDependencies
        }
    }

    /// The steps of a job, and the reasons for steps that are left out, which pages and the API show.
    package struct Plan: Sendable {
        package var steps: [JobDescription.Step]
        package var collect: [JobDescription.Collect]
        /// The reason that there is no analysis; `nil` if there is one.
        package var notAnalyzed: String?
        /// The reason that there is no test step; `nil` if there is one.
        package var notTested: String?
        /// The reason that a warning states for it. `nil` if tests run, and if the recipe says `test: none`.
        package var whyUntested: String?
    }

    /// The directory in the workspace for files of the service. It is never one of the repository's.
    static let ownDirectory = ".martlet"
    /// Returns the build directories that survive a checkout even if the repository does not ignore them: the service's, SwiftPM's, and those of the
    /// type's tools.
    static func keptDirectories(_ type: ProjectType?) -> [String] {
        [ownDirectory, ".build"] + (type?.profile.kept ?? [])
    }
    /// The name of the step that analyzes C targets.
    static let clangStep = "clang"
    /// The argument with which the tools analyze C targets.
    static let analyzeC = "--analyze-c"
    /// The line that `martlet-tools --analyze-c` prints if there are none.
    static let noCTargets = "no C targets: nothing to analyze"
    /// The directory in which the products are built, apart from the tests.
    static let archiveBuild = ".martlet/archive-build"
    /// The file with the list of tests.
    static let list = ".martlet/test/list"
    /// The message of SwiftPM 6 for a package without test targets.
    static let noTests = "error: no tests found"
    static let eventStream = ".martlet/test/events.jsonl"
    static let xunit = ".martlet/test/tests.xml"

    /// The absolute path of `martlet-tools`, which analyzes C sources and assembles a Swift package's products inside the job.
    package let tools: String

    package init(tools: String) { self.tools = tools }

    /// Returns the steps of one configuration: analyze, build, list tests, test, and archive if it is the archived one. In the sandbox a package's
    /// dependencies are resolved first, because no later step has a network.
    /// - Parameters:
    ///   - archived: The configuration whose products are archived; `nil` if none is. See `BotSpecification.archivedConfiguration`.
    ///   - defaultTimeout: A step's time limit, if the configuration states none.
    ///   - testFilter: The filter for the tests to run, if the command accepts one; see `whyNoFilter`.
    package func plan(
        configuration: Recipe.Configuration, recipe: Recipe, archived: Name?, tree: Tree, defaultTimeout: Duration,
        isSandboxed: Bool = false, testFilter: String? = nil
    ) -> Plan {
        let commands = JobCommands(
            configuration: configuration, timeout: configuration.timeout ?? defaultTimeout, tools: tools,
            testFilter: testFilter)
        let projectType = recipe.projectType(of: configuration)
        var plan = Plan(steps: [], collect: [], notAnalyzed: nil, notTested: nil)
        plan.steps += commands.analysis(recipe: recipe, tree: tree)
        if let own = configuration.steps {
            plan.steps += own.map(commands.step)
        } else {
            plan.steps += commands.usual(projectType: projectType, tree: tree)
        }
        func has(_ step: JobStep) -> Bool { plan.steps.contains { $0.step == step.rawValue } }
        if !has(.analyzing) { plan.notAnalyzed = Self.whyNotAnalyzed(configuration, recipe: recipe) }
        if !has(.testing) { (plan.notTested, plan.whyUntested) = Self.notTested(configuration, recipe: recipe) }
        if archived == configuration.name {
            if let include = recipe.archive.include {
                plan.collect = [.init(patterns: include, base: "")]
            } else if let archive = commands.archive(projectType: projectType) {
                plan.steps.append(archive)
                plan.collect = [
                    .init(patterns: ["\(Self.ownDirectory)/products/**"], base: "\(Self.ownDirectory)/products")
                ]
            }
        }
        let resolve = commands.resolve(
            projectType: projectType, tree: tree, isSandboxed: isSandboxed, isArchived: has(.archiving))
        if let resolve { plan.steps.insert(resolve, at: 0) }
        return plan
    }

    /// Returns the plan of a job that was prepared before a restart. The job's description contains its steps.
    package static func plan(
        of job: JobDescription, configuration: Recipe.Configuration, recipe: Recipe
    ) -> Plan {
        func has(_ step: JobStep) -> Bool { job.steps.contains { $0.step == step.rawValue } }
        var plan = Plan(steps: job.steps, collect: job.collect)
        if !has(.analyzing) { plan.notAnalyzed = whyNotAnalyzed(configuration, recipe: recipe) }
        if !has(.testing) { (plan.notTested, plan.whyUntested) = notTested(configuration, recipe: recipe) }
        return plan
    }

    /// Returns how the test command of a configuration is told to run only some tests; `nil` if it cannot be, see `whyNoFilter`.
    package static func filter(of configuration: Recipe.Configuration, recipe: Recipe) -> TestFilter? {
        if configuration.testsNothing == true || configuration.steps != nil { return nil }
        if configuration.testOnly != nil { return .command }
        if configuration.test != nil { return nil }
        let type = recipe.projectType(of: configuration)
        return type == .swiftPackage ? .swift : type?.profile.test?.filter
    }

    /// Returns why the tests of a configuration cannot be chosen by a filter; `nil` if they can.
    package static func whyNoFilter(_ configuration: Recipe.Configuration, recipe: Recipe) -> String? {
        if filter(of: configuration, recipe: recipe) != nil { return nil }
        if configuration.testsNothing == true { return "its recipe says test: none" }
        if configuration.steps != nil { return "its recipe writes its steps out, which take no filter" }
        if let test = configuration.test {
            return "its recipe tests with a command of its own (\(test.prefix(80))), and has no `test-only` that runs "
                + "the tests in $\(TestFilter.variable)"
        }
        guard let type = recipe.projectType(of: configuration) else { return "it has no test command" }
        return "the tests of a \(type.profile.title) take no filter"
    }

    /// Whether the list of tests states that there is none.
    static func saysNoTests(_ listed: [String]) -> Bool { listed.contains { $0.hasPrefix(noTests) } }

    /// Whether a step is the service's own analyzer of C targets. A recipe may give its own step the same name, which a shell runs.
    static func isClangStep(_ step: JobDescription.Step) -> Bool {
        step.name == clangStep && step.arguments.dropFirst().first == analyzeC
    }

    /// Whether the analyzer of C targets found no target.
    static func saysNoCTargets(_ step: JobDescription.Step, _ lines: [String]) -> Bool {
        isClangStep(step) && lines.contains(noCTargets)
    }

    private static func whyNotAnalyzed(_ configuration: Recipe.Configuration, recipe: Recipe) -> String {
        recipe.analyze == []
            ? "not analyzed: the recipe says analyze: []"
            : noAnalyzerApplies(to: recipe.projectType(of: configuration))
    }

    /// Returns the text of pages and the API if no analyzer applies to a project.
    static func noAnalyzerApplies(to type: ProjectType?) -> String {
        var known = (type?.profile.analyses ?? []).map { "\($0.name) where \($0.markers.first ?? "it can be") is" }
        if type == .swiftPackage {
            known = ["swift-format runs where .swift-format is", "clang where C targets are"] + known
        }
        if known.isEmpty { known = ["none is usual here; name one with `analyze:`"] }
        return "not analyzed: no analyzer applies (\(known.joined(separator: ", ")))"
    }

    /// Returns the text for pages and the API if there is no test step, and the reason for `Plan.whyUntested`.
    private static func notTested(
        _ configuration: Recipe.Configuration, recipe: Recipe
    ) -> (text: String, reason: String?) {
        if configuration.testsNothing == true { return ("not tested: the recipe says test: none", nil) }
        let type = recipe.projectType(of: configuration)
        let hasSteps = configuration.steps != nil
        let reason =
            hasSteps
            ? "the recipe has no step: testing"
            : type == .make ? "the Makefile has neither check nor test" : "the recipe names no test command"
        let own = ProjectTree.OwnCommand.sentence(recipe.recognition?.ownCommands ?? [])
        return ("skipped: no tests (\(reason)\(hasSteps ? "" : own.map { "; \($0)" } ?? ""))", reason)
    }
}

extension JobPlanner {
    /// Separates the variables that identify an integration from the rest of a job's environment. This is done if the job has a default command of a
    /// Swift package: such steps run without these variables, and the other steps get them.
    ///
    /// SwiftPM caches what it has read of a package's manifests for one environment, including every variable. For another environment it compiles
    /// and runs them again. That takes 0.2 s for each command of each integration on the machine of decision 0011, a third of a small package's time.
    static func environments(
        _ all: [String: String], steps: [JobDescription.Step], configuration: Recipe.Configuration,
        projectType: ProjectType?
    ) -> (job: [String: String], steps: [JobDescription.Step]) {
        let readsManifests = steps.map {
            Self.readsManifests($0, configuration: configuration, projectType: projectType)
        }
        guard readsManifests.contains(true) else { return (all, steps) }
        let differing = all.filter { JobEnvironment.differing.contains($0.key) }
        let own = zip(steps, readsManifests).map { step, readsManifests in
            var step = step
            if !readsManifests { step.environment.merge(differing) { own, _ in own } }
            return step
        }
        return (all.filter { !JobEnvironment.differing.contains($0.key) }, own)
    }

    /// Whether a step is one of the default commands that run SwiftPM, not one that the recipe states. The products are built with all variables,
    /// because compilers write `SOURCE_DATE_EPOCH` in place of the time.
    private static func readsManifests(
        _ step: JobDescription.Step, configuration: Recipe.Configuration, projectType: ProjectType?
    ) -> Bool {
        guard projectType == .swiftPackage, configuration.steps == nil else { return false }
        switch (JobStep(rawValue: step.step), step.name) {
        case (.building, JobStep.resolve), (.testing, JobStep.list): return true
        case (.analyzing, _): return isClangStep(step)
        case (.building, _): return configuration.build == nil
        case (.testing, _): return configuration.test == nil
        default: return false
        }
    }
}
