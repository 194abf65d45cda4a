import Logging
package import Storage

extension UserRequests {
    /// Tries to send a message again; see `Operations.retryMessage`.
    package func retryMessage(_ id: Int64, by actor: String) async throws(OperationError) -> OutboxMessage {
        do throws(StoreError) {
            let message = try await store.retryMessage(id, at: clock.now())
            logger.notice("a message is tried again", metadata: ["message": "\(id)", "person": "\(actor)"])
            return message
        } catch {
            switch error.code {
            case .notFound: throw OperationError(.notFound, error.message, underlying: error)
            case .illegalTransition:
                throw OperationError(
                    .conflict, "message \(id) was not given up, or a newer one of its subject came after it",
                    underlying: error)
            default: throw stored(error)
            }
        }
    }
}
