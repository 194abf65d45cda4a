/// A signal. A loop over `rings` wakes up once for any number of calls of `ring()` since its last iteration.
package struct Wakeup: Sendable {
    package let rings: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    package init() {
        (rings, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Wakes the waiting loop, now or as soon as it waits. Two calls before it wakes count as one.
    package func ring() { continuation.yield() }

    /// Ends the waiting loop.
    package func finish() { continuation.finish() }
}
