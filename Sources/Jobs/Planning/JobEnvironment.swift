import Basics
import Execution
package import Model
package import Storage

/// The environment of jobs and trigger scripts. Few variables are inherited; the others are documented (docs/reference/environment.md).
package struct JobEnvironment: Sendable {
    /// The variables that are passed on from the daemon's environment.
    static let inherited = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "USER", "LOGNAME", "SSL_CERT_FILE", "SSL_CERT_DIR"]

    /// The variables that differ in each integration; see `JobPlanner.environments`.
    static let differing: Set = [
        "MARTLET_INTEGRATION", "MARTLET_INTEGRATION_NUMBER", "MARTLET_COMMIT", "MARTLET_CAUSE", "MARTLET_URL",
        "CI_COMMIT_SHA",
        "XCS_INTEGRATION_ID", "XCS_INTEGRATION_TINY_ID", "XCS_INTEGRATION_NUMBER", "XCS_PRIMARY_REPO_REVISION",
        "SOURCE_DATE_EPOCH", "MARTLET_PULL_REQUEST", "MARTLET_PULL_REQUEST_HEAD",
        "MARTLET_BASE_COMMIT",
    ]

    private let base: [String: String]
    let url: String

    /// - Parameter url: The URL of the service, for links. Empty if there is no service.
    package init(daemon: [String: String], url: String) {
        var base = daemon.filter { Self.inherited.contains($0.key) }
        base["PATH"] = base["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
        // There is no terminal: without a terminal's name, programs such as tput fail.
        base["TERM"] = "dumb"
        self.base = base
        self.url = url
    }

    /// The paths as a job sees them.
    package struct Place: Sendable {
        package var workspace: String
        package var temporary: String
        /// The paths inside the sandbox; `nil` if the job sees the machine as the daemon does.
        package var sandbox: Sandbox?

        package init(workspace: String, temporary: String, sandbox: Sandbox? = nil) {
            self.workspace = workspace
            self.temporary = temporary
            self.sandbox = sandbox
        }

        /// The values that differ inside the sandbox.
        package struct Sandbox: Sendable {
            package var path: String
            package var home: String
            package var user: String
            /// The cache directory. It survives steps and integrations, unlike the home. It is in the workspace, so only this bot, configuration and
            /// trust domain use it.
            package var cache: String
            /// The paths of the machine that the job sees in addition to the usual ones.
            package var readOnly: [String]

            package init(path: String, home: String, user: String, cache: String, readOnly: [String]) {
                self.path = path
                self.home = home
                self.user = user
                self.cache = cache
                self.readOnly = readOnly
            }
        }
    }

    /// Returns the environment of a configuration's steps. The recipe's own variables take precedence, except over those that identify the
    /// integration.
    /// - Parameter baseCommit: See `JobHistory`.
    package func job(
        _ integration: IntegrationRecord, bot: BotSpecification, configuration: Recipe.Configuration, in place: Place,
        base baseCommit: CommitID? = nil, projectType: ProjectType? = nil
    ) -> [String: String] {
        var environment = base
        environment["TMPDIR"] = place.temporary
        if let sandbox = place.sandbox {
            Self.enter(sandbox, &environment)
            for (name, value) in projectType?.profile.caches ?? [:] {
                environment[name] = value.replacing("{cache}", with: sandbox.cache)
            }
        }
        if let toolchain = configuration.toolchain {
            environment["PATH"] = "\(toolchain)/usr/bin:\(environment["PATH"] ?? "")"
        }
        environment.merge(configuration.environment) { $1 }
        environment.merge(identity(integration, bot: bot)) { $1 }
        // The job's own `.git` belongs to the service's user; the root user of a container may see another owner.
        environment.merge(Self.git("safe.directory", "*")) { $1 }
        environment["MARTLET_BASE_COMMIT"] = baseCommit?.description
        environment["MARTLET_CONFIGURATION"] = configuration.name.description
        environment["MARTLET_SOURCE_DIR"] = place.workspace
        environment["XCS_SOURCE_DIR"] = place.workspace
        environment["XCS_PRIMARY_REPO_DIR"] = place.workspace
        return environment
    }

    /// Returns the environment of a trigger script, before its secrets are added.
    ///
    /// The operator wrote the script, but not the commit's files. So `git` in the script must not use a directory among these files as a bare
    /// repository (`safe.bareRepository`, git 2.38). It also does not search directories above the script's own directory.
    package func trigger(
        _ integration: IntegrationRecord, bot: BotSpecification, facts: TriggerFacts, in place: Place
    ) -> [String: String] {
        var environment = base
        environment["TMPDIR"] = place.temporary
        if let sandbox = place.sandbox { Self.enter(sandbox, &environment) }
        environment.merge(identity(integration, bot: bot)) { $1 }
        environment.merge(Self.git("safe.bareRepository", "explicit")) { $1 }
        environment["GIT_CEILING_DIRECTORIES"] = place.workspace
        let result = facts.verdict?.rawValue ?? "unknown"
        environment["MARTLET_RESULT"] = result
        environment["XCS_INTEGRATION_RESULT"] = result
        environment["MARTLET_ARTIFACTS"] = facts.artifacts
        environment["XCS_OUTPUT_DIR"] = facts.artifacts
        environment["MARTLET_VERSION"] = facts.version?.description
        environment["MARTLET_SOURCE_DIR"] = facts.source
        environment["XCS_SOURCE_DIR"] = facts.source
        environment["XCS_PRIMARY_REPO_DIR"] = facts.source
        let summary = facts.summary
        for (name, count, change) in [
            ("ERROR", summary.counts.errors, summary.change.errors),
            ("WARNING", summary.counts.warnings, summary.change.warnings),
            ("ANALYZER_WARNING", summary.counts.analyzerWarnings, summary.change.analyzerWarnings),
            ("TEST_FAILURE", summary.counts.testFailures, summary.change.testFailures),
            ("TESTS", summary.counts.tests, summary.change.tests),
        ] {
            for prefix in ["MARTLET", "XCS"] {
                environment["\(prefix)_\(name)_COUNT"] = String(count)
                environment["\(prefix)_\(name)_CHANGE"] = String(change)
            }
        }
        return environment
    }

    private static func enter(_ sandbox: Place.Sandbox, _ environment: inout [String: String]) {
        environment["PATH"] = sandbox.path
        environment["HOME"] = sandbox.home
        environment["USER"] = sandbox.user
        environment["LOGNAME"] = sandbox.user
        environment["XDG_CACHE_HOME"] = sandbox.cache
        for name in [CertificateVariables.fileName, CertificateVariables.directoryName] {
            guard let path = environment[name] else { continue }
            if !Toolchains.isWithin(path, ["/usr", "/etc/ssl"] + sandbox.readOnly) { environment[name] = nil }
        }
    }

    /// Returns the variables for one git setting (git-config(1), `GIT_CONFIG_COUNT`).
    private static func git(_ name: String, _ value: String) -> [String: String] {
        ["GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": name, "GIT_CONFIG_VALUE_0": value]
    }

    private func identity(_ integration: IntegrationRecord, bot: BotSpecification) -> [String: String] {
        let name = integration.id.bot.description
        let number = String(integration.id.number)
        var environment = [
            "CI": "true",
            "MARTLET": "true",
            "MARTLET_BOT": name,
            "MARTLET_PRODUCT": bot.product.description,
            "MARTLET_INTEGRATION": integration.id.description,
            "MARTLET_INTEGRATION_NUMBER": number,
            "MARTLET_COMMIT": integration.commit.description,
            "MARTLET_REF": integration.ref.description,
            "MARTLET_CAUSE": integration.cause.rawValue,
            "CI_COMMIT_SHA": integration.commit.description,
            "CI_COMMIT_REF_NAME": integration.ref.shortName,
            // Xcode Server's variables, so that scripts written for it still work (Apple, "Environment variables").
            "XCS": "1",
            "XCS_BOT_NAME": name,
            "XCS_BOT_ID": name,
            "XCS_BOT_TINY_ID": name,
            "XCS_INTEGRATION_ID": integration.id.description,
            "XCS_INTEGRATION_TINY_ID": "\(name)-\(number)",
            "XCS_INTEGRATION_NUMBER": number,
            "XCS_INTEGRATION_RESULT": "unknown",
            "XCS_PRIMARY_REPO_REVISION": integration.commit.description,
            "GIT_TERMINAL_PROMPT": "0",
        ]
        if !url.isEmpty { environment["MARTLET_URL"] = "\(url)/bots/\(name)/\(number)" }
        if let branch = integration.ref.branch {
            environment["MARTLET_BRANCH"] = branch
            environment["CI_COMMIT_BRANCH"] = branch
            environment["XCS_PRIMARY_REPO_BRANCH"] = branch
        }
        if let tag = integration.ref.tag {
            environment["MARTLET_TAG"] = tag
            environment["CI_COMMIT_TAG"] = tag
            environment["XCS_PRIMARY_REPO_TAG"] = tag
        }
        if let pull = integration.pull {
            environment["MARTLET_PULL_REQUEST"] = String(pull.number)
            environment["MARTLET_PULL_REQUEST_BASE"] = pull.base.shortName
            environment["MARTLET_PULL_REQUEST_HEAD"] = pull.head.description
        }
        if let time = integration.committedAt {
            // The time of the last change to the source, in seconds since 1970 (reproducible-builds.org, "SOURCE_DATE_EPOCH").
            environment["SOURCE_DATE_EPOCH"] = String(time.millisecondsSinceEpoch / 1000)
        }
        return environment
    }
}

/// The results that triggers after an integration receive.
package struct TriggerFacts: Sendable {
    package var verdict: Verdict?
    package var summary: Summary
    /// The directory with the integration's artifacts, under the names with which they are published once there is a version.
    package var artifacts: String
    /// A directory with the commit's files.
    package var source: String
    package var version: SemanticVersion?

    package init(verdict: Verdict?, summary: Summary, artifacts: String, source: String, version: SemanticVersion?) {
        self.verdict = verdict
        self.summary = summary
        self.artifacts = artifacts
        self.source = source
        self.version = version
    }
}
