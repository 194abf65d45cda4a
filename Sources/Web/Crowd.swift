import NIOCore
import Synchronization

/// The connections of one address, so that a crowd of clients that keep the service waiting does not keep others out: while there are
/// many, each new one closes the one that has waited longest for its request.
final class Crowd: Sendable {
    fileprivate struct State {
        var count = 0
        var next: UInt64 = 0
        /// Connections that owe a request, by when they began to: numbers grow.
        var waiting: [UInt64: any Channel] = [:]
        /// The numbers in order; those that wait no more are passed over.
        var order: ArraySlice<UInt64> = []
    }

    /// From how many connections on the longest waiting one goes.
    let limit: Int
    private let state = Mutex(State())

    init(limit: Int) { self.limit = limit }

    /// A new connection, which owes its first request.
    /// - Returns: Its number for `answering(_:)`.
    func enter(_ channel: any Channel) -> UInt64 {
        let (number, crowdedOut) = state.withLock { state in
            state.count += 1
            let oldest = state.count > limit ? state.takeOldest() : nil
            return (state.wait(channel), oldest)
        }
        // Out of the lock: closing tells `leave` at once where it is this very thread's connection.
        crowdedOut?.close(promise: nil)
        return number
    }

    /// A connection whose answer is complete owes its next request, one whose head is here its body.
    func waiting(_ channel: any Channel) -> UInt64 { state.withLock { $0.wait(channel) } }

    /// Its request is here: it is not closed for others any more.
    /// - Returns: False for one that is being closed for others already.
    func answering(_ number: UInt64) -> Bool { state.withLock { $0.waiting.removeValue(forKey: number) != nil } }

    /// It is closed.
    func leave(_ number: UInt64?) {
        state.withLock { state in
            state.count -= 1
            if let number { state.waiting[number] = nil }
        }
    }
}

extension Crowd.State {
    fileprivate mutating func wait(_ channel: any Channel) -> UInt64 {
        next += 1
        waiting[next] = channel
        order.append(next)
        // Not more than half of the list is passed over.
        if order.count > 64, order.count > 2 * waiting.count { order = ArraySlice(order.filter { waiting[$0] != nil }) }
        return next
    }

    fileprivate mutating func takeOldest() -> (any Channel)? {
        while let number = order.popFirst() {
            if let channel = waiting.removeValue(forKey: number) { return channel }
        }
        return nil
    }
}
