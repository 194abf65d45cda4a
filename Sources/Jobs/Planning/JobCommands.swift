import JobProtocol
import Model
import Settings

/// The commands of one configuration.
struct JobCommands {
    let configuration: Recipe.Configuration
    let timeout: Duration
    let tools: String
    /// Which tests the usual command runs; `nil`: all.
    var testFilter: String?

    func analysis(recipe: Recipe, tree: JobPlanner.Tree) -> [JobDescription.Step] {
        let usual: [Recipe.Analysis] = Recipe.Analysis.Tool.allCases.map { .tool($0) }
        let steps = (recipe.analyze ?? usual).enumerated().compactMap { index, analysis -> JobDescription.Step? in
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
                        tools, JobPlanner.analyzeC, "\(JobPlanner.ownDirectory)/analyze", "--configuration",
                        isOptimized ? "release" : "debug",
                    ], report: ["\(JobPlanner.ownDirectory)/analyze/*.sarif"], isRequired: false)
            case .command(let command, let name):
                return step(.analyzing, name?.description ?? "analyze-\(index + 1)", command, isRequired: false)
            }
        }
        return steps + (recipe.analyze == nil ? usualAnalyses(recipe.projectType(of: configuration), tree) : [])
    }

    /// A step that the recipe writes out.
    func step(_ step: Recipe.Step) -> JobDescription.Step {
        switch step.kind {
        case .analyzing: self.step(.analyzing, step.name.description, step.command, isRequired: false)
        case .building: self.step(.building, step.name.description, step.command)
        case .testing: self.step(.testing, step.name.description, step.command)
        }
    }

    private func step(
        _ step: JobStep, _ name: String, _ command: Recipe.Command, isRequired: Bool = true
    ) -> JobDescription.Step {
        var made = self.step(
            step, name, ShellCommand.arguments(for: command.run), report: command.report, isRequired: isRequired,
            network: command.network)
        made.environment = command.environment
        made.workingDirectory = command.workingDirectory ?? "."
        made.secrets = command.secrets.map(SecretStore.variable(for:))
        if let timeout = command.timeout { made.timeoutMilliseconds = timeout.milliseconds }
        return made
    }

    /// What builds and tests a project of this type, or what the recipe says instead of either.
    func usual(projectType: ProjectType?, tree: JobPlanner.Tree) -> [JobDescription.Step] {
        var steps: [JobDescription.Step] = []
        if let step = build(projectType: projectType, tree: tree) { steps.append(step) }
        if let step = test(projectType: projectType, tree: tree) {
            if let list = listTests(projectType: projectType) { steps.append(list) }
            steps.append(step)
        }
        return steps
    }

    private func build(projectType: ProjectType?, tree: JobPlanner.Tree) -> JobDescription.Step? {
        if let command = configuration.build { return step(.building, "build", ShellCommand.arguments(for: command)) }
        switch projectType {
        case .swiftPackage: return step(.building, "build", ["swift", "build", "--build-tests"] + swiftFlags)
        case .make:
            let makefile = MakefileText(tree.manifest ?? "")
            switch makefile.build {
            case .none where makefile.testTarget != nil && configuration.testsNothing != true: return nil
            case .usual: return placed(step(.building, "build", ["make"] + configuration.flags))
            case .none:
                let first = makefile.goal ?? ""
                // An argument of the script, so that the shell reads no target's name.
                return placed(step(.building, "build", ["/bin/sh", "-c", Self.buildsNothing, "build", first]))
            case .targets(let targets):
                return placed(step(.building, "build", ["make"] + targets + configuration.flags))
            }
        default: return projectType?.profile.build.map { step(.building, "build", $0) }
        }
    }

    /// A Makefile that only installs, deploys or runs: a commit is not installed on the machine that tests it.
    private static let buildsNothing = #"echo "the Makefile has no target that builds: its first one, $1, is not run""#

    /// XCTest on Linux prints only a test's class; the list says its module. Listing may fail where there are no tests,
    /// which the test step then says.
    private func listTests(projectType: ProjectType?) -> JobDescription.Step? {
        guard projectType == .swiftPackage, configuration.test == nil else { return nil }
        return step(
            .testing, JobStep.list, ["/bin/sh", "-c", Self.listTests, "list"] + swiftFlags, isRequired: false)
    }

    private func test(projectType: ProjectType?, tree: JobPlanner.Tree) -> JobDescription.Step? {
        if configuration.testsNothing == true { return nil }
        if let testFilter, let command = configuration.testOnly {
            var made = step(
                .testing, "test", ShellCommand.arguments(for: command), report: configuration.report)
            made.environment[TestFilter.variable] = testFilter
            return made
        }
        if let command = configuration.test {
            return step(.testing, "test", ShellCommand.arguments(for: command), report: configuration.report)
        }
        switch projectType {
        case .swiftPackage:
            // The event stream is named by version 0: toolchains from 6.0 on write it, and it carries test cases.
            return step(
                .testing, "test",
                ["/bin/sh", "-c", Self.runTests, "test"] + swiftFlags
                    + (testFilter.map { TestFilter.swift.arguments($0, after: []) } ?? [])
                    + [
                        "--event-stream-output-path", JobPlanner.eventStream, "--event-stream-version", "0",
                        "--xunit-output", JobPlanner.xunit,
                    ],
                report: [JobPlanner.eventStream, ".martlet/test/tests*.xml"] + configuration.report)
        case .make:
            guard let target = MakefileText(tree.manifest ?? "").testTarget else { return nil }
            return placed(
                step(.testing, "test", ["make", target] + configuration.flags, report: configuration.report))
        default:
            guard let command = projectType?.profile.test else { return nil }
            var made = step(.testing, "test", command)
            made.report += configuration.report
            if let filter = command.filter, let testFilter {
                made.arguments += filter.arguments(testFilter, after: made.arguments)
                if filter.isInEnvironment { made.environment[TestFilter.variable] = testFilter }
            }
            return made
        }
    }

    /// Whether a step is a usual command whose exit status is the test tool's own, so that it says whether a test failed.
    static func isOwn(_ step: JobDescription.Step) -> Bool {
        let script = step.arguments.dropFirst(2).first
        // In a directory, the script goes there between the beginning and the end of the text.
        let own = [ProjectType.cargo, .go, .cmake].compactMap { $0.profile.test?.script }
        return script == runTests || script.map { text in own.contains(where: text.hasSuffix) } ?? false
    }

    /// Whether a step is the usual command of a Swift package that runs each listed test, and says of each how it ended.
    static func runsAllListed(_ step: JobDescription.Step) -> Bool {
        guard step.arguments.dropFirst(2).first == runTests else { return false }
        let choosing = ["--filter", "--skip", "--specifier", "--test-product", "--parallel", "--num-workers"]
        return !step.arguments.dropFirst(4).contains { argument in
            argument == "-s" || choosing.contains { argument == $0 || argument.hasPrefix($0 + "=") }
        }
    }

    /// Asks the built test program for its tests, as `swift test list` does after it has loaded the package once more. That takes as long as
    /// `swift test` itself. The program is asked only if the build's description says that this plain build links it, and no other. SwiftPM
    /// is asked otherwise, and if the program fails. A test library without tests exits with 69 (EX_UNAVAILABLE, Swift Testing 6.0).
    ///
    /// Only SwiftPM says that a package has no tests, whatever the program prints.
    private static let listTests = """
        linked() {
          # SwiftPM builds there, and what is in .build is of an earlier build.
          [ -z "$SWIFTPM_BUILD_DIR" ] || return 1
          case "$*" in
          '' | '-c debug' | '--configuration debug' | '--configuration=debug') build=debug ;;
          '-c release -Xswiftc -enable-testing' | '--configuration release -Xswiftc -enable-testing' | \
          '--configuration=release -Xswiftc -enable-testing') build=release ;;
          *) return 1 ;;
          esac
          program=
          for file in .build/$build/*.xctest; do
            grep -qF "/$build/${file##*/}\\"]" .build/$build.yaml 2>/dev/null || continue
            [ -z "$program" ] && [ -x "$file" ] || return 1
            program=$file
          done
          [ -n "$program" ]
        }
        ask() {
          "$program" --list-tests 2>&1 || return
          "$program" --testing-library swift-testing --list-tests 2>&1 || [ $? = 69 ]
        }
        if linked "$@" && ask > \(JobPlanner.list); then
          found=$(grep -v -e '^Listing [0-9]* test' -e '^$' -e '^\(JobPlanner.noTests)' \(JobPlanner.list))
          printf '%s\\n' "$found" | tee \(JobPlanner.list)
          exit 0
        fi
        swift test list --skip-build "$@" > \(JobPlanner.list) 2>&1; status=$?; cat \(JobPlanner.list); exit $status
        """

    /// A package without a test target is no failure, although `swift test` exits with 1 for it (6.3.1).
    ///
    /// SwiftPM holds back what XCTest prints until its buffer is full (6.3.1). Ended at a limit it would take that along, and
    /// nobody would know which test was running; `stdbuf` of coreutils, where it is, has every line written at once.
    ///
    /// SwiftPM believes a test process that exits with 0 before its first test (6.3.1), as with a constructor of C that calls exit(3). Swift
    /// Testing writes its events in every run, also of a package that only has tests of XCTest.
    private static let runTests = """
        if grep -q '^\(JobPlanner.noTests)' \(JobPlanner.list); then echo 'no tests'; exit 0; fi
        lines=; if command -v stdbuf >/dev/null; then lines='stdbuf -oL'; fi
        $lines swift test --skip-build "$@"
        status=$?
        if [ $status != 0 ]; then exit $status; fi
        case " $* " in *' --disable-swift-testing '*) exit 0 ;; esac
        if [ ! -s \(JobPlanner.eventStream) ]; then
          echo; echo 'martlet: no report: swift test ended with 0 and wrote no event of a test run'; exit 1
        fi
        """

    /// The step that makes the products; `nil` if the recipe builds by commands of its own, or the type has none.
    func archive(projectType: ProjectType?) -> JobDescription.Step? {
        guard configuration.build == nil, configuration.steps == nil else { return nil }
        if projectType == .swiftPackage { return archiveProducts() }
        return projectType?.profile.archive.map { step(.archiving, "archive", $0) }
    }

    /// Builds in a scratch path of its own: the test build has testing enabled, which optimized products must not have.
    private func archiveProducts() -> JobDescription.Step {
        step(
            .archiving, "archive",
            [
                tools, "--archive-products", "\(JobPlanner.ownDirectory)/products", "--scratch-path",
                JobPlanner.archiveBuild, "--configuration", isOptimized ? "release" : "debug", "--",
            ] + flagsWithoutConfiguration)
    }

    private var isOptimized: Bool {
        let flags = configuration.flags
        return flags.contains("--configuration=release")
            || zip(flags, flags.dropFirst()).contains { ["-c", "--configuration"].contains($0) && $1 == "release" }
    }

    /// The configuration's flags, and where the package is when that is not the root.
    private var allFlags: [String] {
        (configuration.directory.map { ["--package-path", $0] } ?? []) + configuration.flags
    }

    /// `@testable import` needs `-enable-testing`, which SwiftPM passes in debug builds only.
    private var swiftFlags: [String] {
        allFlags + (isOptimized ? ["-Xswiftc", "-enable-testing"] : [])
    }

    private var flagsWithoutConfiguration: [String] {
        var kept: [String] = []
        var skipsNext = false
        for flag in allFlags {
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

    /// A command that is no script of ours, in the configuration's directory.
    private func placed(_ step: JobDescription.Step) -> JobDescription.Step {
        var step = step
        step.workingDirectory = configuration.directory ?? "."
        return step
    }

    /// The step with the network; `nil` if nothing has to be fetched, or the recipe writes its own steps.
    func resolve(
        projectType: ProjectType?, tree: JobPlanner.Tree, isSandboxed: Bool, isArchived: Bool
    ) -> JobDescription.Step? {
        guard configuration.steps == nil else { return nil }
        if projectType == .swiftPackage {
            let isNeeded = isSandboxed && tree.hasDependencies && configuration.network != .full
            return isNeeded ? resolvePackage(isArchived: isArchived) : nil
        }
        return projectType?.profile.resolve.map { step(.building, JobStep.resolve, $0, network: .full) }
    }

    /// Those that the project is set up for; see `ProjectProfile.Analysis`.
    private func usualAnalyses(_ type: ProjectType?, _ tree: JobPlanner.Tree) -> [JobDescription.Step] {
        (type?.profile.analyses ?? []).compactMap { analysis in
            let isAsked =
                analysis.markers.isEmpty || analysis.markers.contains(where: tree.rootEntries.contains)
                || analysis.line.map { line in
                    (tree.manifest ?? "").split(whereSeparator: \.isNewline).contains { $0.hasPrefix(line) }
                } == true
            return isAsked ? step(.analyzing, analysis.name, analysis.command, isRequired: false) : nil
        }
    }

    /// Makes a step of a usual command, with its name as `$0`. The command checks the status of each of its programs.
    private func step(
        _ step: JobStep, _ name: String, _ command: ProjectProfile.Command, isRequired: Bool = true,
        network: Recipe.Network? = nil
    ) -> JobDescription.Step {
        self.step(
            step, name,
            ["/bin/sh", "-c", command.text(in: configuration.directory), name]
                + (command.takesFlags ? configuration.flags : []),
            report: command.report, isRequired: isRequired, network: network)
    }

    /// Fetches the package's dependencies with the network, which no later step has; also for the products, which are built in a scratch path of
    /// their own.
    ///
    /// A warm workspace whose manifest and pins are unchanged since this last succeeded already has all of them: SwiftPM would read the same files
    /// and reach the same result half a second later. The step is skipped only if nothing but those files matters: no environment, no file read by
    /// the manifest, no package of the same repository.
    private func resolvePackage(isArchived: Bool) -> JobDescription.Step {
        step(
            .building, JobStep.resolve,
            [
                "/bin/sh", "-c", ProjectProfile.Command(script: Self.resolve, needs: ["swift"]).text, "resolve",
                isArchived ? JobPlanner.archiveBuild : "",
            ] + placingFlags,
            network: .full)
    }

    /// The flags that say where things lie and which dependencies there are: `swift package` takes these; of the others
    /// some belong to `swift build` alone.
    private var placingFlags: [String] {
        let single = ["--disable-default-traits", "--enable-all-traits"]
        let paired = [
            "--package-path", "--scratch-path", "--build-path", "--cache-path", "--traits", "--swift-sdks-path",
        ]
        var kept: [String] = []
        var takesNext = false
        for flag in allFlags {
            if takesNext || single.contains(flag) || paired.contains(where: { flag.hasPrefix($0 + "=") }) {
                kept.append(flag)
                takesNext = false
            } else if paired.contains(flag) {
                kept.append(flag)
                takesNext = true
            }
        }
        return kept
    }

    private static let resolve = """
        archive=$1; shift; stamp=\(JobPlanner.ownDirectory)/resolved
        key() { { command -v swift; cat -- Package*.swift Package.resolved .build/workspace-state.json \
        ${archive:+"$archive/workspace-state.json"}; } 2>&1 | sha256sum; }
        others() { [ $# -gt 0 ] || cat -- Package*.swift | tr -d ' \\t\\n' | \
        grep -qE 'Context|ProcessInfo|import(Foundation|Glibc|Musl)|[.]package[(](name:[^,]*,)?path:'; }
        if [ -f Package.resolved ] && [ "$(cat "$stamp" 2>/dev/null)" = "$(key)" ] && ! others "$@"; then
          echo 'unchanged since the dependencies were resolved last'; exit 0
        fi
        rm -f "$stamp"
        swift package "$@" resolve || exit
        [ -z "$archive" ] || swift package "$@" --scratch-path "$archive" resolve || exit
        key > "$stamp"
        """

    private func step(
        _ step: JobStep, _ name: String, _ arguments: [String], report: [String] = [], isRequired: Bool = true,
        network: Recipe.Network? = nil
    ) -> JobDescription.Step {
        .init(
            step: step.rawValue, name: name, arguments: arguments, timeoutMilliseconds: timeout.milliseconds,
            report: report, isRequired: isRequired,
            network: (network ?? configuration.network) == .full ? .full : .none)
    }
}
