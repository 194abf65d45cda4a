import Archives
import Model
import Storage

/// What a message tells: everything that its texts are made of.
struct NoticeFacts: Sendable {
    var transition: Transition
    /// The notice's name in the bot's file.
    var notice: Name
    var integration: IntegrationRecord
    /// Of which run of the integration; a rerun tells anew.
    var run: Int
    /// The integration's, new ones and resolved ones, as far as they were read.
    var issues: [Issue] = []
    /// How many there are.
    var counts = Store.ToldIssues()
    /// How many people are not told, since a message has so many recipients at most.
    var leftOut = 0
    /// What was published.
    var version: VersionRecord?
    /// What broke the branch, where it is fixed now.
    var brokenBy: Standing.Run?
    /// When it happened.
    var at: Timestamp
    /// The service's address, without a slash at its end.
    var root: String

    /// The new issues that are worth telling, in the integration's order: failing tests after what keeps them from running.
    var news: [Issue] { issues.filter(\.isTold) }
    var resolved: [Issue] { issues.filter { $0.status == .resolved && $0.finding.category != .warning } }

    /// Where a person reads more.
    var page: String {
        guard transition == .released, let version else {
            return "\(root)/bots/\(integration.id.bot)/\(integration.id.number)"
        }
        return "\(root)/products/\(version.product)/\(version.version)"
    }

    /// One name for each message that is ever made, the same however often it is sent: 32 hexadecimal digits.
    var id: String { id(of: transition, Standing.Run(number: integration.id.number, run: run)) }

    /// The name of the message that told that the branch broke.
    var brokenID: String? { brokenBy.map { id(of: .broke, $0) } }

    private func id(of transition: Transition, _ run: Standing.Run) -> String {
        let version = transition == .released ? version.map { "\($0.product) \($0.version)" } ?? "" : ""
        // A line each: none of them has a line break in it.
        let parts = [
            root, integration.id.bot.description, String(run.number), String(run.run), transition.rawValue, version,
            notice.description,
        ]
        return String(Digest.sha256(of: Array(parts.joined(separator: "\n").utf8)).prefix(32))
    }
}
