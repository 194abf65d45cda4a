/// A bell: whoever waits on `rings` wakes up once for any number of rings since it last looked.
package struct Wakeup: Sendable {
    package let rings: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    package init() {
        (rings, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Wakes the waiting loop, now or as soon as it waits. Ringing twice before it wakes is ringing once.
    package func ring() { continuation.yield() }

    /// Ends the waiting loop.
    package func finish() { continuation.finish() }
}
