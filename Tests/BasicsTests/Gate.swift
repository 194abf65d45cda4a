import Dispatch

/// Blocks a thread until another opens it, as a blocking C call does.
final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    func wait() { semaphore.wait() }
    func open() { semaphore.signal() }
}
