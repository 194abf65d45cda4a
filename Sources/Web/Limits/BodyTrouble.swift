import Logging
import Synchronization

/// Logs why webhooks' bodies cannot be stored: each reason once until a body is stored again, since anybody may send one.
final class BodyTrouble: Sendable {
    private let logger: Logger
    private let directory: String
    private let reasons: Mutex<Set<Int32>> = Mutex([])

    /// - Parameter directory: Where bodies are stored.
    init(directory: String, logger: Logger) { (self.directory, self.logger) = (directory, logger) }

    /// Logs that a body could not be stored, if the reason is new.
    func log(_ error: OpenFile.ReadError) {
        guard reasons.withLock({ $0.insert(error.errno).inserted }) else { return }
        logger.warning(
            "a webhook's body could not be stored; its sender is asked to send it again",
            metadata: ["directory": "\(directory)", "error": "\(error)"])
    }

    /// Forgets the logged reasons, because a body was stored.
    func end() { reasons.withLock { $0 = [] } }
}
