/// A lane's body until it has run. The queue releases its closures only some time after the caller continues.
///
/// The caller creates it and from then on only the queue uses it, hence unchecked.
final class PendingBody<Value: Sendable, Failure: Error>: @unchecked Sendable {
    private var body: (@Sendable () throws(Failure) -> Value)?
    /// Whether the caller answers a request; the lane then does, too.
    private let isAnswer = AnsweringThread.isCurrent

    init(_ body: @escaping @Sendable () throws(Failure) -> Value) { self.body = body }

    /// Runs it once, and lets go of it before anybody hears of that.
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
