import Synchronization

/// A request to stop long work on a serial queue. The queue's thread belongs to no task, and neither libgit2 nor a call that waits for the disk can
/// be interrupted. So the work checks it between two of its steps.
struct Interruption: Sendable {
    private let isRequestedNow: @Sendable () -> Bool

    /// - Parameter isRequested: Called on the queue's thread, for each file. Once it returns true, it must continue to do so.
    init(isRequested: @escaping @Sendable () -> Bool) { isRequestedNow = isRequested }

    var isRequested: Bool { isRequestedNow() }

    /// Checks whether to stop.
    /// - Throws: `canceled` if the work is to stop.
    func check(_ operation: String) throws(SourceControlError) {
        guard isRequested else { return }
        throw SourceControlError(code: .canceled, operation: operation, message: "it was canceled")
    }
}

extension Mirror {
    /// As `local`, for long work: it is told when the task is canceled, also while it waits for its turn.
    func interruptible<Value: Sendable>(
        _ body: @escaping @Sendable (_ repository: OpaquePointer, Interruption) throws(SourceControlError) -> Value
    ) async throws(SourceControlError) -> Value {
        let cancellation = CancellationFlag()
        let interruption = Interruption { cancellation.isSet }
        let result: Result<Value, SourceControlError> = await withTaskCancellationHandler {
            await outcome(of: { repository throws(SourceControlError) in try body(repository, interruption) })
        } onCancel: {
            cancellation.set()
        }
        return try result.get()
    }

    /// What work on the opened repository came to: a cancellation handler passes no typed error on.
    private func outcome<Value: Sendable>(
        of body: @escaping @Sendable (_ repository: OpaquePointer) throws(SourceControlError) -> Value
    ) async -> Result<Value, SourceControlError> {
        do throws(SourceControlError) {
            return .success(try await local(isKept: true, body))
        } catch {
            return .failure(error)
        }
    }
}

/// That a task was canceled, for a thread that knows of no task.
final class CancellationFlag: Sendable {
    private let flag = Atomic(false)

    /// Whether it was.
    var isSet: Bool { flag.load(ordering: .relaxed) }

    /// To be called when it is.
    func set() { flag.store(true, ordering: .relaxed) }
}
