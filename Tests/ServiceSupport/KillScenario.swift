import Foundation

/// What of an integration's life a kill falls into. Each but `publishing` has a bot of its own, named as its raw value.
package enum KillScenario: String, CaseIterable, Sendable {
    /// Build, test, publish.
    case publishing
    /// An analysis beside the tests, a product to keep, and its upload.
    case uploading = "uploads"
    /// Steps in a fence that have a network of their own.
    case networked = "networks"
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
    /// A person ends a rerun before it begins.
    case takenBack = "withdrawn"
    /// It ended the daemon time and again, which leaves it alone, while its job runs.
    case leftAlone = "alone"
    /// A fork's pull request that a person approves.
    case pull = "pulls"
    /// Somebody is told that the branch broke, or is fixed.
    case telling = "tells"
    /// The same by one who says once that he is busy, and by one who wants no more.
    case tellingBusy = "busy"
    case tellingGone = "gone"
    /// What was given up is tried again, because a person says so.
    case tellingAgain = "retried"
    /// The bot's file does not name him any more when it is his turn.
    case tellingNobody = "renamed"
    /// A daemon before this one was sending it.
    case tellingResumed = "resumed"
    /// A forge gets a commit's statuses. If it was unreachable meanwhile, it gets only the newest.
    case reporting = "reports"
    case reportingNewest = "replaced"
    /// Old integrations are removed.
    case retention = "keeps"
    /// A published version is taken out of ranges.
    case yanking = "yanks"
    /// A number is given back whose version could not be published.
    case abandoning = "abandons"
    /// A version lies on the disk that the database does not know.
    case adopting = "adopts"

    /// The table: the changes of state that it kills at, in their order. `KillSweepTests` holds it to the sources' failpoints.
    package var transitions: [String] {
        switch self {
        case .publishing:
            // The daemon's rows, the supervisor's lines, and the log's own.
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

    /// Names that a state machine's words make and that nothing passes, each with the reason.
    package static let unreached = [
        "integration.pending": "an integration is queued, and queued again, by `integration.queued` and `rerun.queued`",
        "attempt.running": "an attempt that runs is in a step, which is its word",
        "attempt.archiving": "what is kept is collected by the supervisor: `job.collected`",
        "attempt.processing": "a step of triggers alone, which are no attempts: `trigger.running`",
    ]

    /// Those of the sweep without the fence, or of the one within it.
    package static func all(isFenced: Bool) -> [KillScenario] {
        allCases.filter { $0 != .networked && (isFenced ? $0.isFenced : $0 != .pull) }
    }

    /// Whether jobs are killed within the fence too. What a daemon tells others and removes is the same there; of pull requests
    /// nothing runs without one.
    private var isFenced: Bool {
        switch self {
        case .publishing, .uploading, .networked, .rerun, .cancel, .supersede, .pull: true
        case .beforeTriggers, .failedTrigger, .rerunOfFailed, .takenBack, .leftAlone, .telling, .tellingBusy,
            .tellingGone, .tellingAgain, .tellingNobody, .tellingResumed, .reporting, .reportingNewest,
            .retention, .yanking, .abandoning, .adopting:
            false
        }
    }

    /// What its first integration comes to: of those whose file states the version, the first commit has none.
    var firstResult: String {
        [.failedTrigger, .yanking, .abandoning, .adopting].contains(self) ? "trigger-error" : "succeeded"
    }
}
