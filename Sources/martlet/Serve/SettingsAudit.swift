import Basics
import Logging
import Model
import Settings
import Storage

/// Records in the audit, and in the log, which settings the service has taken up.
struct SettingsAudit: Sendable {
    let store: Store
    let location: SettingsLocation
    let logger: Logger

    /// Records the settings' file if its content differs from that which was recorded last.
    /// - Parameter changed: The keys that changed since the service started; `nil` at its start.
    func record(changed: [String]? = nil) async {
        do {
            let path = try location.find().file
            let bytes = try? WholeFile.read(path, limit: SettingsLocation.maximumBytes)
            let digest = bytes.map { "SHA-256 \(Digest.sha256(of: $0))" } ?? "no file, so the defaults apply"
            let words = changed.map { $0.isEmpty ? "" : "; changed: \($0.joined(separator: ", "))" } ?? ""
            logger.notice("settings were read", metadata: ["file": "\(path)", "content": "\(digest)"])
            let last = try await store.audit(AuditFilter(action: .settings), limit: 1).items.first?.entry
            if last?.subject == path, last?.detail?.hasPrefix(digest) == true { return }
            let entry = AuditEntry(.settings, actor: AuditEntry.service, subject: path, detail: digest + words)
            try await store.record(entry, at: WallClock.system.now())
        } catch {
            logger.error("the audit could not record that settings were read", metadata: ["error": "\(error)"])
        }
    }
}
