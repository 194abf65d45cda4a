import Basics
import Model
import Storage

/// The contents of a message, from which all its texts are made.
package struct NoticeFacts: Sendable {
    var transition: Transition
    /// The notice's name in the bot's file.
    var notice: Name
    var integration: IntegrationRecord
    /// The run of the integration. A rerun sends new messages.
    var run: Int
    /// The new and the resolved issues of the integration, as far as they were read.
    var issues: [Issue] = []
    /// The number of all such issues.
    var counts = Store.NotifiedIssues()
    /// The number of authors who get no message, because the number of recipients is limited.
    var leftOut = 0
    /// The published version; `nil` if the message is about something else.
    var version: VersionRecord?
    /// The run that broke the branch, if it is fixed now.
    var brokenBy: BranchHealth.Run?
    /// The time of the event.
    var at: Timestamp
    /// The service's URL, without a slash at its end.
    var root: String

    /// The new issues that are worth a message, in the integration's order: failing tests come after what keeps them from running.
    var news: [Issue] { issues.filter(\.isNotified) }
    var resolved: [Issue] { issues.filter { $0.status == .resolved && $0.finding.category != .warning } }

    /// The URL of the page with more information.
    var page: String {
        guard transition == .released, let version else {
            return "\(root)/bots/\(integration.id.bot)/\(integration.id.number)"
        }
        return "\(root)/products/\(version.product)/\(version.version)"
    }

    /// The id of the message, 32 hexadecimal digits. It is unique, and the same however often the message is sent.
    var id: String { id(of: transition, BranchHealth.Run(number: integration.id.number, run: run)) }

    /// The id of the message which stated that the branch broke.
    var brokenID: String? { brokenBy.map { id(of: .broke, $0) } }

    private func id(of transition: Transition, _ run: BranchHealth.Run) -> String {
        let version = transition == .released ? version.map { "\($0.product) \($0.version)" } ?? "" : ""
        // The parts are separated by line feeds, which none of them contains.
        let parts = [
            root, integration.id.bot.description, String(run.number), String(run.run), transition.rawValue, version,
            notice.description,
        ]
        return String(Digest.sha256(of: Array(parts.joined(separator: "\n").utf8)).prefix(32))
    }
}
