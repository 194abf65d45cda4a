/// What the next pushes to a bot's branches would run.
package struct Plan: Codable, Hashable, Sendable {
    /// The plans, that of the default branch first and then by name.
    package var items: [Branch]
    /// Always `nil`: the list has one page.
    package var next: String?
    /// The number of watched branches that are not planned, because there are too many.
    package var omitted: Int
    /// Sentences about what is missing, such as that the repository was not scanned yet.
    package var notes: [String]

    /// What the next push to a branch would run, according to the files of its newest commit.
    package struct Branch: Codable, Hashable, Sendable {
        /// The full name of the ref.
        package var ref: String
        /// The branch's name; `nil` if the ref is no branch.
        package var branch: String?
        /// Its newest commit.
        package var commit: String
        /// Whether commits of the branch may be published or uploaded.
        package var release: Bool
        /// Why the mirror cannot tell; `nil` if it can.
        package var unread: String?
        /// The recognized type of project; `nil` if it was not recognized.
        package var project: String?
        /// Why no file is archived; `nil` if files are, and without a usable recipe.
        package var notArchived: String?
        /// The messages about the recipe, including warnings.
        package var diagnostics: [Diagnostic]
        /// The jobs, one for each configuration. It is empty if the recipe has errors, and if `unread` is not `nil`.
        package var configurations: [Job]
        /// The archive; `nil` if there is none.
        package var archive: Archive?
        /// The triggers that run for the branch, in their order.
        package var triggers: [Trigger]

        /// Creates a value from all its properties.
        package init(
            ref: String, branch: String?, commit: String, release: Bool, unread: String?, project: String?,
            notArchived: String?, diagnostics: [Diagnostic], configurations: [Job], archive: Archive?,
            triggers: [Trigger]
        ) {
            self.ref = ref
            self.branch = branch
            self.commit = commit
            self.release = release
            self.unread = unread
            self.project = project
            self.notArchived = notArchived
            self.diagnostics = diagnostics
            self.configurations = configurations
            self.archive = archive
            self.triggers = triggers
        }
    }

    /// A message about a recipe.
    package struct Diagnostic: Codable, Hashable, Sendable {
        /// The file's path.
        package var file: String
        /// The line, counted from 1.
        package var line: Int
        /// The column, counted from 1.
        package var column: Int
        /// `error` or `warning`.
        package var severity: String
        /// The message.
        package var message: String

        /// Creates a value from all its properties.
        package init(file: String, line: Int, column: Int, severity: String, message: String) {
            self.file = file
            self.line = line
            self.column = column
            self.severity = severity
            self.message = message
        }
    }

    /// The job of one configuration.
    package struct Job: Codable, Hashable, Sendable {
        /// The configuration's name.
        package var name: String
        /// Why the job could not start; `nil` if it can.
        package var problem: String?
        /// The toolchain; `nil` for the machine's usual one.
        package var toolchain: String?
        /// The image; `nil` if it runs in none.
        package var image: String?
        /// Why there is no analysis; `nil` if there is one.
        package var analysis: String?
        /// Why there is no test; `nil` if there is one.
        package var tested: String?
        /// The steps in their order.
        package var steps: [Step]

        /// Creates a value from all its properties.
        package init(
            name: String, problem: String?, toolchain: String?, image: String?, analysis: String?, tested: String?,
            steps: [Step]
        ) {
            self.name = name
            self.problem = problem
            self.toolchain = toolchain
            self.image = image
            self.analysis = analysis
            self.tested = tested
            self.steps = steps
        }
    }

    /// A step of a job.
    package struct Step: Codable, Hashable, Sendable {
        /// The kind of step, such as `building`.
        package var step: String
        /// The step's name.
        package var name: String
        /// The command as a user would write it.
        package var command: String
        /// The directory in the workspace; `.` is its root.
        package var directory: String
        /// `none` or `full`.
        package var network: String
        /// The time limit in seconds.
        package var timeout: Double
        /// The patterns of its reports.
        package var report: [String]
        /// Whether the job ends when the step fails.
        package var required: Bool

        /// Creates a value from all its properties.
        package init(
            step: String, name: String, command: String, directory: String, network: String, timeout: Double,
            report: [String], required: Bool
        ) {
            self.step = step
            self.name = name
            self.command = command
            self.directory = directory
            self.network = network
            self.timeout = timeout
            self.report = report
            self.required = required
        }
    }

    /// What would be archived.
    package struct Archive: Codable, Hashable, Sendable {
        /// The configuration whose products are archived.
        package var configuration: String
        /// The patterns of the recipe; `nil` for the default products of the project's kind.
        package var include: [String]?
        /// Whether there are products.
        package var products: Bool
        /// Whether the source is archived.
        package var source: Bool

        /// Creates a value from all its properties.
        package init(configuration: String, include: [String]?, products: Bool, source: Bool) {
            self.configuration = configuration
            self.include = include
            self.products = products
            self.source = source
        }
    }

    /// A trigger.
    package struct Trigger: Codable, Hashable, Sendable {
        /// The trigger's name.
        package var name: String
        /// `run`, `publish` or `upload`.
        package var kind: String
        /// `before` or `after` the jobs.
        package var phase: String
        /// The conditions of which one has to be met.
        package var when: [String]
        /// The version that it would publish; `nil` if there is none, or if it is not known yet.
        package var version: String?
        /// Why there is no version, or none is known yet; `nil` for other triggers.
        package var reason: String?

        /// Creates a value from all its properties.
        package init(name: String, kind: String, phase: String, when: [String], version: String?, reason: String?) {
            self.name = name
            self.kind = kind
            self.phase = phase
            self.when = when
            self.version = version
            self.reason = reason
        }
    }

    /// Creates a value from all its properties.
    package init(items: [Branch], next: String?, omitted: Int, notes: [String]) {
        self.items = items
        self.next = next
        self.omitted = omitted
        self.notes = notes
    }
}
