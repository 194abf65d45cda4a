package import Execution
package import ExecutionSupport
import Integrations
package import Jobs
import Model
package import Settings
package import Transfer

/// The configuration of the fixture's bot.
package struct BotPlan: Sendable {
    /// The executor of the jobs.
    package enum Executor: Sendable {
        /// Starts no process, and plays what the commit states.
        case scripted(ScriptedExecutor)
        /// The test's own executor.
        case other(any Execution.Executor)
        /// The launcher and the supervisors as in production.
        case local
    }

    /// The names of the recipe's configurations. `release` is archived, or else the last one.
    package var configurations: [String]
    /// A whole recipe in place of one with `configurations`.
    package var recipe: String?
    /// Whether commits have exactly the files that they name, without a recipe and the script `play`.
    package var isRepositoryEmpty: Bool
    /// Further lines of the bot file: triggers, branches, tags. `{directory}` stands for the test's directory.
    package var file: String
    /// The scripts in `triggers/`, by name.
    package var scripts: [String: String]
    package var executor: Executor
    /// The isolation of jobs. Most tests are not about it.
    package var isolation: JobIsolation
    /// The number of concurrent jobs.
    package var concurrency: Int
    /// The state directory; `nil` for one below the test's directory.
    package var state: String?
    /// The mail server; `nil` for none.
    package var mail: MailSettings?
    /// The name of the secret that signs versions; `nil` for unsigned versions.
    package var signing: String?
    /// The transport of mail; `nil` for the fake that serves all other requests.
    package var mailTransport: (any Transport)?

    package init(
        configurations: [String] = ["debug"], recipe: String? = nil, isRepositoryEmpty: Bool = false, file: String = "",
        scripts: [String: String] = [:],
        state: String? = nil, executor: Executor = .scripted(.playing()),
        isolation: JobIsolation = JobIsolation(isolation: .none(reason: "of the test")), concurrency: Int = 2
    ) {
        self.configurations = configurations
        self.recipe = recipe
        self.isRepositoryEmpty = isRepositoryEmpty
        self.file = file
        self.scripts = scripts
        self.executor = executor
        self.isolation = isolation
        self.concurrency = concurrency
        self.state = state
    }

    var recipeText: String {
        if let recipe { return recipe }
        let lines = configurations.map {
            "  \($0): { build: sh play building, test: sh play testing, report: build/junit.xml }\n"
        }
        return "configurations:\n\(lines.joined())analyze: []\narchive: { include: [\"products/**\"] }\n"
    }

    /// A bot that publishes from release branches.
    package static let publishing = """
        branches: [main, "release/*"]
        triggers:
          - name: publish
            branches: ["release/*"]
            publish: { version: branch }

        """

    /// A bot that publishes from release branches and uploads the version: `publish`, `office`.
    package static let uploading = """
        branches: ["release/*"]
        triggers:
          - { name: publish, branches: ["release/*"], publish: { version: branch } }
          - { name: office, branches: ["release/*"], upload: "https://files.example/{version}/" }

        """

    /// Returns a bot that runs the script `tell` after each integration.
    package static func telling(_ executor: Executor) -> BotPlan {
        BotPlan(
            file: "triggers: [{ name: tell, run: tell }]\n", scripts: ["tell": "#!/bin/sh\n"], executor: executor)
    }
}
