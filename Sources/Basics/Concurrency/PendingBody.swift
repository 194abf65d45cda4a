/// The body of a serial queue until it has run. Dispatch releases its closures only some time after the caller continues, so
/// the body is kept here and released earlier.
///
/// It is unchecked `Sendable` because only the caller uses it first, and then only the queue.
final class PendingBody<Value: Sendable, Failure: Error>: @unchecked Sendable {
    private var body: (@Sendable () throws(Failure) -> Value)?
    /// Whether the caller answers a request; the queue's thread is then marked in the same way.
    private let isAnswer = AnsweringThread.isCurrent

    init(_ body: @escaping @Sendable () throws(Failure) -> Value) { self.body = body }

    /// Runs the body once, and releases it before the caller continues.
    func run(_ continuation: CheckedContinuation<Result<Value, Failure>, Never>) {
        guard let result = taken() else { return }
        continuation.resume(returning: result)
    }

    private func taken() -> Result<Value, Failure>? {
        guard let body else { return nil }
        self.body = nil
        return AnsweringThread.working(isAnswer: isAnswer) { Result(catching: body) }
    }
}
