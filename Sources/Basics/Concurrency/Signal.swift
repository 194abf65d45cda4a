/// A signal. A loop over `notifications` wakes up once for any number of calls of `notify()` since its last iteration.
package struct Signal: Sendable {
    package let notifications: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    package init() {
        (notifications, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Wakes the waiting loop, now or as soon as it waits. Two calls before it wakes count as one.
    package func notify() { continuation.yield() }

    /// Ends the waiting loop.
    package func finish() { continuation.finish() }
}
