import Model
import Storage

/// Reads what a message of the outbox tells, as it is stored now.
struct NoticeReading: Sendable {
    let store: Store
    /// Without a slash at its end.
    let root: String

    /// The most issues that are read of each kind; a message names some of them.
    private static let maximumIssues = 1000

    init(store: Store, url: String) {
        self.store = store
        var url = url[...]
        while url.hasSuffix("/") { url = url.dropLast() }
        root = String(url)
    }

    /// - Returns: Nothing where there is nothing to tell any more.
    func facts(of message: OutboxMessage) async throws -> NoticeFacts? {
        guard let told = message.content.notice, let id = message.integration,
            var record = try await store.integration(id)
        else { return nil }
        let content = message.content
        // A rerun may be on its way, and another run's end is another message.
        if let verdict = content.verdict {
            record.state = .completed(verdict, triggerFailed: content.hasFailedTrigger)
            (record.run, record.reason) = (content.run, content.reason)
        }
        var facts = NoticeFacts(
            transition: told.transition, notice: told.name, integration: record, run: content.run,
            brokenBy: told.brokenBy, at: content.at, root: root)
        facts.leftOut = told.leftOut ?? 0
        if told.transition == .released {
            guard let version = content.version.flatMap({ SemanticVersion($0) }), let product = told.product else {
                return nil
            }
            facts.version = try await store.version(version, of: product)
            guard facts.version != nil else { return nil }
        } else {
            facts.counts = try await store.toldIssues(of: id)
            for status in [Issue.Status.new, .resolved] {
                facts.issues += try await store.issuePage(of: id, status: status, limit: Self.maximumIssues).items
            }
        }
        return facts
    }
}
