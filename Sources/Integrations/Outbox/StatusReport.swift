import Model
import Settings
import Storage

/// A commit's status in our words, before a forge's.
struct StatusReport: Sendable, Hashable {
    /// How it is shown.
    enum State: String, Sendable, Hashable, CaseIterable {
        case pending, running, success
        /// The code's fault.
        case failure
        /// Ours, or the machine's.
        case error
        case canceled
        /// Not integrated, because the bot's file says so.
        case skipped
    }

    var state: State
    /// What tells it from the statuses of others: `martlet/kit`, `martlet/kit/debug`, and `martlet/kit:pull/main` of a pull request into
    /// main, whose head is a branch's commit too.
    var context: String
    /// A sentence; cut to what the forge takes.
    var description: String
    /// The integration's page.
    var url: String
    var commit: CommitID
    var ref: RefName

    /// - Parameter url: The integration's page.
    init(_ message: OutboxMessage, url: String, description: String) {
        let content = message.content
        context =
            "martlet/\(message.bot)\(content.scope)" + (message.job.map { "/\($0)" } ?? "")
        self.url = url
        self.description = description
        (commit, ref) = (content.commit, content.ref)
        state = Self.state(content)
    }

    private static func state(_ content: OutboxContent) -> State {
        if let verdict = content.verdict {
            switch IntegrationResult(verdict: verdict, triggerFailed: content.hasFailedTrigger) {
            case .triggerError: return .error
            case .verdict(.canceled): return .canceled
            case .verdict(let verdict):
                return verdict.isOurFault ? .error : verdict.isPublishable ? .success : .failure
            }
        }
        switch content.moment {
        case .skipped: return .skipped
        case .started: return .running
        case .jobs: return content.hasBegun ? .running : .pending
        case .queued, .completed, .published: return .pending
        }
    }

    /// The description in one line of at most `limit` code points, which is what forges count; cut between characters.
    func description(within limit: Int) -> String {
        let line = String(description.map { $0.isNewline ? " " : $0 }).inOneBlankedLine
        guard line.unicodeScalars.count > limit else { return line }
        var count = 0
        return line.prefix { character in
            count += character.unicodeScalars.count
            return count < limit
        } + "…"
    }
}
