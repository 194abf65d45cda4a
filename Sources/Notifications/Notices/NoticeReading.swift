import Model
import Storage

/// Reads the contents of a message of the outbox, as they are stored now.
package struct NoticeReading: Sendable {
    let store: Store
    /// The service's URL, without a slash at its end.
    let root: String

    /// The most issues that are read of each kind; a message names some of them.
    private static let maximumIssues = 1000

    init(store: Store, url: String) {
        self.store = store
        var url = url[...]
        while url.hasSuffix("/") { url = url.dropLast() }
        root = String(url)
    }

    /// Reads the contents of a message.
    /// - Returns: `nil` if its integration or its version no longer exists.
    func facts(of message: OutboxMessage) async throws -> NoticeFacts? {
        guard let notified = message.content.notice, let id = message.integration,
            var record = try await store.integration(id)
        else { return nil }
        let content = message.content
        // A rerun may have started, but the end of another run is another message.
        if let verdict = content.verdict {
            record.state = .completed(verdict, triggerFailed: content.hasFailedTrigger)
            (record.run, record.reason) = (content.run, content.reason)
        }
        var facts = NoticeFacts(
            transition: notified.transition, notice: notified.name, integration: record, run: content.run,
            brokenBy: notified.brokenBy, at: content.at, root: root)
        facts.leftOut = notified.leftOut ?? 0
        if notified.transition == .released {
            guard let version = content.version.flatMap({ SemanticVersion($0) }), let product = notified.product else {
                return nil
            }
            facts.version = try await store.version(version, of: product)
            guard facts.version != nil else { return nil }
        } else {
            facts.counts = try await store.notifiedIssues(of: id)
            for status in [Issue.Status.new, .resolved] {
                facts.issues += try await store.issuePage(of: id, status: status, limit: Self.maximumIssues).items
            }
        }
        return facts
    }
}
