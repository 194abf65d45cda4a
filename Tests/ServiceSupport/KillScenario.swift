import Foundation

/// The part of an integration's life that a kill hits. Each except `publishing` has a bot of its own, named after its raw value.
package enum KillScenario: String, CaseIterable, Sendable {
    /// A build, tests, and a publication.
    case publishing
    /// An analysis beside the tests, an archived product, and its upload.
    case uploading = "uploads"
    /// Steps in a sandbox that have a network of their own.
    case networked = "networks"
    /// A trigger before the jobs.
    case beforeTriggers = "before"
    /// A trigger that fails, and one after it that is skipped for that reason.
    case failedTrigger = "late"
    /// A rerun of everything, and a rerun of what failed.
    case rerun = "again"
    case rerunOfFailed = "failed"
    /// A user cancels it while its job runs.
    case cancel = "slow"
    /// A newer commit supersedes it while its job runs.
    case supersede = "newer"
    /// A user cancels a rerun before it begins.
    case takenBack = "withdrawn"
    /// It has crashed the daemon repeatedly and is failed while its job runs.
    case leftAlone = "alone"
    /// A fork's pull request that a user approves.
    case pull = "pulls"
    /// A webhook is sent when the branch breaks or is fixed.
    case telling = "tells"
    /// A webhook is sent, which one receiver refuses once for a while, and another one refuses for good.
    case tellingBusy = "busy"
    case tellingGone = "gone"
    /// A message that was given up is retried by a user.
    case tellingAgain = "retried"
    /// The bot's file no longer names the receiver when the message is sent.
    case tellingNobody = "renamed"
    /// An earlier daemon was sending the message.
    case tellingResumed = "resumed"
    /// A forge gets a commit's statuses. If it was unreachable meanwhile, it gets only the newest.
    case reporting = "reports"
    case reportingNewest = "replaced"
    /// Old integrations are removed.
    case retention = "keeps"
    /// A published version is yanked.
    case yanking = "yanks"
    /// A number is released whose version could not be published.
    case abandoning = "abandons"
    /// A version is on the disk that is not in the database.
    case adopting = "adopts"

    /// The changes of state at which it kills, in order. `KillSweepTests` compares them with the failpoints in the sources.
    package var transitions: [String] {
        switch self {
        case .publishing:
            // The daemon's rows, the supervisor's lines, and the log's own changes.
            [
                "delivery.stored", "look.stored", "integration.queued", "integration.preparing", "integration.recipe",
                "integration.running", "attempt.queued", "attempt.checkout", "status.started", "attempt.building",
                "step.started", "status.ended", "step.ended", "attempt.testing", "status.finished", "attempt.ended",
                "attempt.processed", "integration.after-triggers", "trigger.running", "version.reserved",
                "version.published", "trigger.succeeded", "integration.completed", "log.compressed",
            ]
        case .uploading:
            [
                "job.locked", "attempt.analyzing", "attempt.testing", "job.collected", "attempt.processed",
                "integration.uploading", "trigger.succeeded", "integration.completed",
            ]
        case .networked: ["status.started", "status.ended", "status.finished"]
        case .beforeTriggers:
            [
                "integration.before-triggers", "trigger.running", "job.locked", "status.started", "status.ended",
                "status.finished", "trigger.succeeded", "integration.running",
            ]
        case .failedTrigger: ["trigger.failed", "trigger.skipped", "integration.completed"]
        case .rerun, .rerunOfFailed:
            [
                "rerun.queued", "integration.preparing", "integration.running", "attempt.processed",
                "integration.completed",
            ]
        case .cancel: ["status.finished", "attempt.processed", "integration.completed"]
        case .supersede: ["look.stored", "attempt.processed", "integration.completed"]
        case .takenBack: ["rerun.taken-back"]
        case .leftAlone: ["attempt.processed", "integration.completed"]
        case .pull: ["pull.approved", "integration.merged", "attempt.processed", "integration.completed"]
        case .telling: ["outbox.waiting", "outbox.sending", "outbox.sent"]
        case .tellingBusy: ["outbox.waiting"]
        case .tellingGone: ["outbox.given-up"]
        case .tellingAgain: ["outbox.waiting", "outbox.sent"]
        case .tellingNobody: ["outbox.unneeded"]
        case .tellingResumed: ["outbox.recovered"]
        case .reporting: ["outbox.sending", "outbox.sent"]
        case .reportingNewest: ["outbox.superseded"]
        case .retention: ["retention.removed", "retention.moved", "retention.deleted"]
        case .yanking: ["version.yanked"]
        case .abandoning: ["version.abandoned"]
        case .adopting: ["version.adopted"]
        }
    }

    /// Names of failpoints that state machines yield and that no process passes, each with the reason.
    package static let unreached = [
        "integration.pending": "an integration is queued, and queued again, by `integration.queued` and `rerun.queued`",
        "attempt.running": "an attempt that runs is in a step, which is its word",
        "attempt.archiving": "what is kept is collected by the supervisor: `job.collected`",
        "attempt.processing": "a step of triggers alone, which are no attempts: `trigger.running`",
    ]

    /// Returns the scenarios of the sweep without the sandbox, or of the one in it.
    package static func all(isSandboxed: Bool) -> [KillScenario] {
        allCases.filter { $0 != .networked && (isSandboxed ? $0.isSandboxed : $0 != .pull) }
    }

    /// Whether jobs are killed in the sandbox too. Notifications and removals are the same there. Pull requests run only there.
    private var isSandboxed: Bool {
        switch self {
        case .publishing, .uploading, .networked, .rerun, .cancel, .supersede, .pull: true
        case .beforeTriggers, .failedTrigger, .rerunOfFailed, .takenBack, .leftAlone, .telling, .tellingBusy,
            .tellingGone, .tellingAgain, .tellingNobody, .tellingResumed, .reporting, .reportingNewest,
            .retention, .yanking, .abandoning, .adopting:
            false
        }
    }

    /// The result of its first integration. If a file states the version, the first commit has none.
    var firstResult: String {
        [.failedTrigger, .yanking, .abandoning, .adopting].contains(self) ? "trigger-error" : "succeeded"
    }
}
