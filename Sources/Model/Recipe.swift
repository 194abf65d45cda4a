/// How a repository's commits are analyzed, built, tested and archived, with every default filled in.
///
/// It is recorded with the integration, so that a rerun replays just what ran.
package struct Recipe: Hashable, Sendable, Codable {
    /// In the order in which they are written; never empty.
    package var configurations: [Configuration]
    /// `nil`: the usual analyses of the project's type. Empty: no analysis, and the page says so.
    package var analyze: [Analysis]?
    package var archive: Archive
    /// The type recognized by the files in the commit's tree; `nil` if no type fits and every step is written out.
    package var projectType: ProjectType?
    /// The files by which the type was recognized; `nil` in records of an older version.
    package var recognition: ProjectType.Recognition?
    /// Warnings of its reader: files that look like a recipe and are none. `nil` if there are none, and in records of an older version.
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

    /// One way to analyze, build and test.
    package struct Configuration: Hashable, Sendable, Codable {
        package var name: Name
        /// Added to the build, test and archive commands alike.
        package var flags: [String]
        package var environment: [String: String]
        /// An absolute directory whose `usr/bin` comes first in PATH.
        package var toolchain: String?
        /// Replaces the usual build command; run by a shell.
        package var build: String?
        /// Replaces the usual test command; run by a shell.
        package var test: String?
        /// Report files the test command writes, as patterns relative to the repository's root.
        package var report: [String]
        /// A step's limit; `nil`: the bot's.
        package var timeout: Duration?
        /// Replaces the commands to build and to test; `nil`: those are used.
        package var steps: [Step]?
        /// The network of every step that does not state its own; `nil`: `none`.
        package var network: Network?
        /// The name of a directory beneath the settings' `images`, which is the job's root file system; `nil`: a small part of the machine's own.
        package var image: Name?
        /// The kind of project whose usual commands it has; `nil`: the recipe's.
        package var projectType: ProjectType?
        /// The directory of the root in which its usual commands run; `nil`: the root.
        package var directory: String?
        /// Whether its author says `test: none`: nothing is tested, and nothing warns of that. `nil`: not said.
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

    /// What is kept of which configuration.
    package struct Archive: Hashable, Sendable, Codable {
        /// `nil`: `release` if there is one, else the first. The reader fills it in if nothing else of a written `archive` asks for products.
        package var configuration: Name?
        /// Patterns relative to the repository's root. `nil`: the project type's usual products; empty: no archive.
        package var include: [String]?
        /// Whether a Swift package's executables, and its C library, are also packed for binary targets. `nil`: they are not.
        package var bundle: Bool?

        package init(configuration: Name? = nil, include: [String]? = nil, bundle: Bool? = nil) {
            self.configuration = configuration
            self.include = include
            self.bundle = bundle
        }

        /// Whether the recipe asks for products: they are archived even if no trigger uses them.
        package var isWritten: Bool { configuration != nil || bundle == true || include.map { !$0.isEmpty } ?? false }
    }

    /// The kind of project whose usual commands a configuration has; `nil` where none is recognized.
    package func projectType(of configuration: Configuration) -> ProjectType? {
        configuration.projectType ?? projectType
    }

    /// Whether a configuration may test nothing: its author says so, or its kind of project was recognized as one without tests beside kinds that
    /// are tested. The latter is only so without a recipe, where every further kind has a configuration of its own.
    package func mayTestNothing(_ configuration: Configuration) -> Bool {
        configuration.testsNothing == true
            || configuration.projectType == nil && recognition?.hasNoTests == true
                && configurations.contains { $0.projectType != nil }
    }

    /// The configuration whose products are archived, if anything uses them; see `BotSpecification.archivedConfiguration`.
    package var archivedConfiguration: Name? {
        if archive.include == [] { return nil }
        if let named = archive.configuration { return named }
        return configurations.first { $0.name.description == "release" }?.name ?? configurations.first?.name
    }
}
