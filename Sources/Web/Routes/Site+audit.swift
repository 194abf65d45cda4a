import Integrations
import Logging
import Model
import Storage

extension Site {
    /// Records what a caller did, in the audit and in the log. Call it after the change and before the answer.
    /// - Throws: `StoreError` if it cannot be stored. The change was made all the same, and the log says so.
    func record(
        _ action: AuditAction, by call: AuthorizedRequest, bot: Name? = nil, _ subject: some CustomStringConvertible,
        _ detail: String? = nil
    ) async throws {
        let entry = entry(action, by: call, bot: bot, subject, detail)
        log(entry)
        try await store.record(entry, at: clock())
    }

    /// Returns the entry for what a caller does.
    /// - Parameter actor: The person, if that is not the caller's name.
    func entry(
        _ action: AuditAction, by call: AuthorizedRequest, as actor: String? = nil, bot: Name? = nil,
        _ subject: some CustomStringConvertible, _ detail: String? = nil
    ) -> AuditEntry {
        AuditEntry(
            action, actor: actor ?? call.caller.name, address: call.origin?.description, bot: bot,
            subject: "\(subject)", detail: detail)
    }

    /// Writes a line about an entry.
    func log(_ entry: AuditEntry) {
        var metadata: Logger.Metadata = ["subject": "\(entry.subject)", "by": "\(entry.actor)"]
        if let address = entry.address { metadata["from"] = "\(address)" }
        if let detail = entry.detail { metadata["detail"] = "\(detail)" }
        logger.notice("\(entry.action.sentence)", metadata: metadata)
    }
}
