import Dispatch

/// One queue on which blocking C code runs, first in, first out, away from Swift's cooperative threads.
///
/// Never two bodies run at once, so a handle that must not be used by two threads at the same time (libgit2's objects,
/// libcurl's) is safe when only one lane uses it. Bodies may run on different threads one after the other; what a
/// library keeps per thread, such as libgit2's last error, must be read in the body that caused it.
package final class BlockingLane: Sendable {
    private let queue: DispatchQueue

    /// - Parameter label: Shown by debuggers; need not be unique.
    package init(label: String) {
        // Without a target of its own a serial queue draws its thread from the overcommitting pool, so a lane that
        // waits for the network does not hold up another.
        queue = DispatchQueue(label: "martlet." + label)
    }

    /// Runs `body` after all bodies handed in before, and returns what it returns.
    ///
    /// What the body alone held is gone by then: a directory that it captured is closed.
    ///
    /// Canceling the task does not stop a body: what blocks must have a limit of its own.
    /// - Throws: What `body` throws, nothing else.
    package func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let pending = PendingBody(body)
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            queue.async { pending.run(continuation) }
        }
        return try result.get()
    }

    /// Runs `body` likewise, for nobody who waits for it.
    package func enqueue(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }
}
