package import Execution
package import ExecutionSupport
package import Integrations
import Model
package import Settings
package import Transfer

/// How the fixture's bot is made.
package struct BotPlan: Sendable {
    /// Who runs the jobs.
    package enum Executor: Sendable {
        /// No process: plays what the commit says.
        case scripted(ScriptedExecutor)
        /// The test's own.
        case other(any Execution.Executor)
        /// The launcher and the supervisors as they are in use.
        case local
    }

    /// The names of the recipe's configurations; the last of them is archived unless there is `release`.
    package var configurations: [String]
    /// The whole recipe instead of one with `configurations`.
    package var recipe: String?
    /// Whether commits have just the files that they name: no recipe, no script `play`.
    package var isRepositoryEmpty: Bool
    /// More lines of the bot file: triggers, branches, tags. `{directory}` stands for the test's directory.
    package var file: String
    /// Scripts in `triggers/`, by name.
    package var scripts: [String: String]
    package var executor: Executor
    /// What keeps jobs from the machine. Most tests are not about it.
    package var isolation: JobIsolation
    /// Jobs at one time.
    package var concurrency: Int
    /// The state directory; nothing: beneath the test's directory.
    package var state: String?
    /// The mail server; nothing: none.
    package var mail: MailSettings?
    /// The name of the secret that versions are signed with; nothing: they are not signed.
    package var signing: String?
    /// What brings mail there; nothing: the fake of all other requests.
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

    /// Publishes from release branches.
    package static let publishing = """
        branches: [main, "release/*"]
        triggers:
          - name: publish
            branches: ["release/*"]
            publish: { version: branch }

        """

    /// Publishes from release branches, and uploads what it published: `publish`, `office`.
    package static let uploading = """
        branches: ["release/*"]
        triggers:
          - { name: publish, branches: ["release/*"], publish: { version: branch } }
          - { name: office, branches: ["release/*"], upload: "https://files.example/{version}/" }

        """

    /// Runs a script after each integration: `tell`.
    package static func telling(_ executor: Executor) -> BotPlan {
        BotPlan(
            file: "triggers: [{ name: tell, run: tell }]\n", scripts: ["tell": "#!/bin/sh\n"], executor: executor)
    }
}
