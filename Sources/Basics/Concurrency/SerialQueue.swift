import Dispatch

/// A serial queue for blocking C code, in the order of submission, on threads other than Swift's cooperative ones.
///
/// Two bodies never run at the same time. A handle that two threads must not use at once (of libgit2 or libcurl) is
/// therefore safe if only one queue uses it. Consecutive bodies may run on different threads. Per-thread state of a
/// library, such as libgit2's last error, must be read in the body that caused it.
package final class SerialQueue: Sendable {
    private let queue: DispatchQueue

    /// Creates a serial queue.
    /// - Parameter label: A name for debuggers; it need not be unique.
    package init(label: String) {
        // A serial queue without a target queue takes its thread from the overcommitting pool, so a serial queue that waits for
        // the network does not delay other queues.
        queue = DispatchQueue(label: "martlet." + label)
    }

    /// Runs `body` after all bodies that were submitted before, and returns its result.
    ///
    /// Objects that only the body held are released before this returns; a directory that it captured is closed.
    ///
    /// Canceling the task does not stop a body, so a blocking body needs its own time limit.
    /// - Throws: Only what `body` throws.
    package func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let pending = PendingBody(body)
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            queue.async { pending.run(continuation) }
        }
        return try result.get()
    }

    /// Runs `body` after all bodies that were submitted before. Does not wait for it.
    package func enqueue(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }
}

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
