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
