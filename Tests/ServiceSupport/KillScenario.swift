import Foundation

/// What of an integration's life a kill falls into. Each but `publishing` has a bot of its own, named as its raw value.
package enum KillScenario: String, CaseIterable, Sendable {
    /// Build, test, publish.
    case publishing
    /// An analysis beside the tests, a product to keep, and its upload.
    case uploading = "uploads"
    /// A trigger before the jobs.
    case beforeTriggers = "before"
    /// A trigger that fails, and one after it that is skipped for it.
    case failedTrigger = "late"
    /// All of it again, and again only what failed.
    case rerun = "again"
    case rerunOfFailed = "failed"
    /// A person ends it while its job runs.
    case cancel = "slow"
    /// A newer commit ends it while its job runs.
    case supersede = "newer"

    /// The changes of state that only it has, in their order.
    package var transitions: [String] {
        switch self {
        case .publishing: KillSweep.transitions
        case .uploading:
            [
                "job.locked", "attempt.analyzing", "attempt.testing", "job.collected", "attempt.processed",
                "integration.uploading", "trigger.succeeded", "integration.completed",
            ]
        case .beforeTriggers:
            ["integration.before-triggers", "trigger.running", "trigger.succeeded", "integration.running"]
        case .failedTrigger: ["trigger.failed", "trigger.skipped", "integration.completed"]
        case .rerun, .rerunOfFailed:
            [
                "rerun.queued", "integration.preparing", "integration.running", "attempt.processed",
                "integration.completed",
            ]
        case .cancel: ["status.finished", "attempt.processed", "integration.completed"]
        case .supersede: ["look.stored", "attempt.processed", "integration.completed"]
        }
    }

    /// The repository's recipe, the bot file's lines, and scripts of triggers.
    struct Bot {
        var recipe: String
        var lines = ""
        /// What is kept of the workspace.
        var archive = ""
        var scripts: [String: String] = [:]
    }

    /// - Parameters:
    ///   - flags: A directory whose files say what jobs do.
    ///   - ledger: The command of a script that notes which attempt it is of.
    func bot(flags: String, ledger: (String) -> String) -> Bot {
        let one = "configurations:\n  debug: { build: \"STEP=build; . ./step\" }\n"
        switch self {
        case .publishing: return Bot(recipe: one)
        case .uploading:
            return Bot(
                recipe: """
                    configurations:
                      debug:
                        steps:
                          - { name: lint, step: analyzing, run: "STEP=lint; . ./step" }
                          - { name: build, step: building, run: "STEP=build; . ./step; cp file made.txt" }
                          - { name: test, step: testing, run: "STEP=test; . ./step" }

                    """,
                lines: "triggers:\n  - { name: office, branches: [main], upload: \"\(flags)/uploads/{commit}/\" }\n",
                archive: "made.txt")
        case .beforeTriggers:
            return Bot(
                recipe: one, lines: "triggers:\n  - { name: ready, phase: before, run: ready }\n",
                scripts: ["ready": ledger("ready")])
        case .failedTrigger:
            return Bot(
                recipe: one,
                lines: "triggers:\n  - { name: breaks, run: breaks }\n  - { name: later, run: later }\n",
                scripts: ["breaks": ledger("breaks") + "exit 3\n", "later": ledger("later")])
        case .rerun, .rerunOfFailed:
            return Bot(
                recipe: """
                    configurations:
                      debug: { build: "STEP=build; . ./step; test -e '\(flags)/mended'" }
                      good: { build: "STEP=build; . ./step" }

                    """)
        case .cancel, .supersede:
            return Bot(
                recipe: """
                    configurations:
                      debug: { build: "STEP=build; . ./step; touch '\(flags)/runs'; until test -e quick -o -e '\(flags)/go'; do sleep 0.05; done" }

                    """, lines: self == .supersede ? "supersede: running\n" : "")
        }
    }
}
