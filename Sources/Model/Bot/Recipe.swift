/// Instructions to analyze, build, test and archive the commits of a repository, with every default filled in.
///
/// It is recorded with the integration, so that a rerun repeats exactly what ran.
package struct Recipe: Hashable, Sendable, Codable {
    /// The configurations in the order of the recipe; never empty.
    package var configurations: [Configuration]
    /// The analyses. `nil` means the usual analyses of the project's type; empty means none, which the page states.
    package var analyze: [Analysis]?
    package var archive: Archive
    /// The type recognized by the files of the commit; `nil` if no type fits and the recipe defines every step.
    package var projectType: ProjectType?
    /// How the type was recognized; `nil` in records of an older version.
    package var recognition: ProjectType.Recognition?
    /// The warnings of the recipe reader, such as files that look like a recipe but are not one. `nil` if there are none, and in records of an older
    /// version.
    package var remarks: [String]?

    package init(
        configurations: [Configuration], analyze: [Analysis]? = nil, archive: Archive = Archive(),
        projectType: ProjectType? = nil, recognition: ProjectType.Recognition? = nil
    ) {
        self.configurations = configurations
        self.analyze = analyze
        self.archive = archive
        self.projectType = projectType
        self.recognition = recognition
    }

    /// A way to analyze, build and test the project.
    package struct Configuration: Hashable, Sendable, Codable {
        package var name: Name
        /// Flags for the build, test and archive commands.
        package var flags: [String]
        package var environment: [String: String]
        /// An absolute directory whose `usr/bin` comes first in PATH.
        package var toolchain: String?
        /// A shell command that replaces the usual build command.
        package var build: String?
        /// A shell command that replaces the usual test command.
        package var test: String?
        /// A shell command that runs only the tests in `TestFilter.variable`, one name a line; `nil` if the recipe does not say how.
        package var testOnly: String?
        /// The report files that the test command writes, as patterns relative to the repository's root.
        package var report: [String]
        /// The time limit of a step; `nil` means the bot's.
        package var timeout: Duration?
        /// Steps that replace the commands to build and to test; `nil` means those commands.
        package var steps: [Step]?
        /// The network of every step that does not state its own; `nil` means `none`.
        package var network: Network?
        /// The name of a directory beneath the `images` directory of the settings, which becomes the job's root file system. `nil` means a small part
        /// of the machine's own.
        package var image: Name?
        /// What it needs of the machine that runs it; `nil` if the recipe does not say.
        package var needs: JobNeeds?
        /// The project type whose usual commands it has; `nil` means the recipe's.
        package var projectType: ProjectType?
        /// The directory of the root in which its usual commands run; `nil` means the root.
        package var directory: String?
        /// Whether the recipe states `test: none`: no test runs, and there is no warning about that. `nil` if it is not stated.
        package var testsNothing: Bool?

        package init(
            name: Name, flags: [String] = [], environment: [String: String] = [:], toolchain: String? = nil,
            build: String? = nil, test: String? = nil, report: [String] = [], timeout: Duration? = nil,
            steps: [Step]? = nil, network: Network? = nil, image: Name? = nil
        ) {
            self.name = name
            self.flags = flags
            self.environment = environment
            self.toolchain = toolchain
            self.build = build
            self.test = test
            self.report = report
            self.timeout = timeout
            self.steps = steps
            self.network = network
            self.image = image
        }
    }

    /// The files that are kept, and the configuration that they come from.
    package struct Archive: Hashable, Sendable, Codable {
        /// The configuration; `nil` means `release` if it exists, otherwise the first. The recipe reader sets it if a written `archive` does not ask
        /// for products in any other way.
        package var configuration: Name?
        /// Patterns relative to the repository's root. `nil` means the usual products of the project's type; empty means no archive.
        package var include: [String]?
        /// Whether a Swift package's executables and its C library are also packed for binary targets. `nil` means no.
        package var bundle: Bool?

        package init(configuration: Name? = nil, include: [String]? = nil, bundle: Bool? = nil) {
            self.configuration = configuration
            self.include = include
            self.bundle = bundle
        }

        /// Whether the recipe asks for products. They are then archived even if no trigger uses them.
        package var isWritten: Bool { configuration != nil || bundle == true || include.map { !$0.isEmpty } ?? false }
    }

    /// Returns the project type whose usual commands a configuration has; `nil` if none is recognized.
    package func projectType(of configuration: Configuration) -> ProjectType? {
        configuration.projectType ?? projectType
    }

    /// Whether a configuration may run no tests. This is so if the recipe states it, or if its project type was recognized as one without tests
    /// beside types that are tested. The latter happens only without a recipe, where every further type has its own configuration.
    package func mayTestNothing(_ configuration: Configuration) -> Bool {
        configuration.testsNothing == true
            || configuration.projectType == nil && recognition?.hasNoTests == true
                && configurations.contains { $0.projectType != nil }
    }

    /// The configuration whose products are archived if they are used; see `BotSpecification.archivedConfiguration`. `nil` if the recipe excludes all
    /// products.
    package var archivedConfiguration: Name? {
        if archive.include == [] { return nil }
        if let named = archive.configuration { return named }
        return configurations.first { $0.name.description == "release" }?.name ?? configurations.first?.name
    }
}

/// The current step of a job.
package enum JobStep: String, Sendable, Codable, CaseIterable, Comparable {
    case checkout, analyzing, building, testing, archiving, processing

    package static func < (left: JobStep, right: JobStep) -> Bool { left.rank < right.rank }
    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    /// The name of the step that fetches a package's dependencies. It is the only default step with a network.
    package static let resolve = "resolve"
    /// The name of the step whose output is the list of tests.
    package static let list = "list"
}

/// The current step of an integration.
package enum IntegrationStep: String, Sendable, Codable, CaseIterable {
    case pending, preparing
    case beforeTriggers = "before-triggers"
    case running
    case afterTriggers = "after-triggers"
    case uploading, completed
}

extension Recipe {
    /// An analysis: a known tool (`swift-format`, `clang`), or any command with a report.
    package enum Analysis: Hashable, Sendable {
        case tool(Tool)
        /// A command. Without a name it is called by its position: `analyze-2`.
        case command(Command, name: Name? = nil)

        /// A tool whose command and report format Martlet knows.
        package enum Tool: String, Sendable, Codable, CaseIterable {
            case swiftFormat = "swift-format"
            case clang
        }
    }
}

/// Written by hand, so that it also decodes records from before commands had more than `run` and `report`.
extension Recipe.Analysis: Codable {
    private enum Keys: String, CodingKey { case tool, command, name }
    private enum ToolKeys: String, CodingKey { case value = "_0" }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Keys.self)
        if values.contains(.tool) {
            let tool = try values.nestedContainer(keyedBy: ToolKeys.self, forKey: .tool)
            self = .tool(try tool.decode(Tool.self, forKey: .value))
        } else {
            self = .command(
                try values.decode(Recipe.Command.self, forKey: .command),
                name: try values.decodeIfPresent(Name.self, forKey: .name))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Keys.self)
        switch self {
        case .tool(let tool):
            var nested = values.nestedContainer(keyedBy: ToolKeys.self, forKey: .tool)
            try nested.encode(tool, forKey: .value)
        case .command(let command, let name):
            try values.encode(command, forKey: .command)
            try values.encodeIfPresent(name, forKey: .name)
        }
    }
}
