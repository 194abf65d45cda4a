import Model
import Settings
import Storage

/// A commit's status in the service's terms, independent of the forge.
struct StatusReport: Sendable, Hashable {
    /// The state that is shown.
    enum State: String, Sendable, Hashable, CaseIterable {
        case pending, running, success
        /// The code failed.
        case failure
        /// The service or the machine failed.
        case error
        case canceled
        /// The commit was not integrated, because the bot's file says so.
        case skipped
    }

    var state: State
    /// The name that distinguishes it from other statuses: `martlet/kit`, `martlet/kit/debug`, and `martlet/kit:pull/main` for a pull request into
    /// main, whose head is also a branch's commit.
    var context: String
    /// A sentence, which is cut to the length that the forge accepts.
    var description: String
    /// The URL of the integration's page.
    var url: String
    var commit: CommitID
    var ref: RefName

    /// - Parameter url: The URL of the integration's page.
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

    /// Returns the description in one line of at most `limit` code points, which is what forges count. It is cut between characters.
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
