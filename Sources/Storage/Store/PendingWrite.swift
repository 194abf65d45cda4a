import Basics
import GRDB
import Synchronization

/// A write that waits for the writer, without its value's type.
protocol WaitingWrite: Sendable {
    /// Runs the closure in a savepoint of the open transaction and stores its outcome. It may be called again if that transaction was rolled back.
    /// - Returns: The stored changes, to be published after the commit; `nil` if the closure failed.
    func perform(in db: Database) -> StoreTransaction?
    /// Resumes the caller with the outcome; with `failure` instead if the stored rows were rolled back.
    func resume(failure: (any Error)?)
}

/// A write closure together with the caller that waits for it.
final class PendingWrite<Value: Sendable>: WaitingWrite {
    typealias Outcome = Result<Value, StoreError>
    private let operation: String
    private let body: @Sendable (StoreTransaction) throws -> Value
    private let continuation: CheckedContinuation<Outcome, Never>
    private let outcome = Mutex<Outcome?>(nil)
    /// Whether the caller answers a request. If so, the writer runs the closure as an answering thread, too.
    private let isAnswer = AnsweringThread.isCurrent

    init(
        operation: String, body: @escaping @Sendable (StoreTransaction) throws -> Value,
        continuation: CheckedContinuation<Outcome, Never>
    ) {
        self.operation = operation
        self.body = body
        self.continuation = continuation
    }

    func perform(in db: Database) -> StoreTransaction? {
        let transaction = StoreTransaction(db)
        do {
            var value: Value?
            try db.inSavepoint {
                value = try AnsweringThread.working(isAnswer: isAnswer) { () throws in
                    Failpoint.trap("write \(operation)")
                    return try body(transaction)
                }
                return .commit
            }
            outcome.withLock { [value] in $0 = value.map { .success($0) } }
            return transaction
        } catch {
            outcome.withLock { $0 = .failure(StoreError(error, operation: operation)) }
            return nil
        }
    }

    func resume(failure: (any Error)?) {
        let stored = outcome.withLock { $0 }
        switch (stored, failure) {
        case (.failure(let error), _): continuation.resume(returning: .failure(error))
        case (_, let failure?):
            continuation.resume(returning: .failure(StoreError(failure, operation: operation)))
        case (.success(let value), nil): continuation.resume(returning: .success(value))
        case (nil, nil):
            continuation.resume(
                returning: .failure(StoreError(Refusal(code: .closed, message: "it was not run"), operation: operation))
            )
        }
    }
}
