import Model
import NIOCore
import Synchronization

/// Limits the connections of one address, so that clients that keep the service waiting do not keep others out.
///
/// The service waits for a client that owes a request's head or body, or that does not read its answer. If there are too many connections, each new
/// one closes the one that has kept the service waiting longest. Connections whose request is being answered, and event streams whose client reads
/// them, are not closed; they have limits of their own (`WebLimits`).
final class ConnectionLimit: Sendable {
    fileprivate struct Waiting {
        let channel: any Channel
        let client: IPAddress?
    }

    fileprivate struct State {
        var count = 0
        /// The most connections since the end of a crowd was last reported.
        var peak = 0
        var clients: [IPAddress: Int] = [:]
        var next: UInt64 = 0
        /// The connections that the service waits for, by increasing number in the order in which it began to wait.
        var waiting: [UInt64: Waiting] = [:]
        /// Their numbers in order, and some numbers of connections that the service no longer waits for.
        var order: ArraySlice<UInt64> = []
    }

    /// The number of simultaneous connections that counts as a crowd. After a crowd some megabytes of free memory stay with the process.
    static let crowd = 128

    /// The number of connections above which a new one closes another.
    let limit: Int
    /// The number of connections of one client above which a new one of it closes another of it.
    let clientLimit: Int
    private let onCrowdGone: @Sendable () -> Void
    private let state = Mutex(State())

    /// Creates the limit of one address.
    /// - Parameter onCrowdGone: Called when three quarters of a crowd have gone.
    init(limit: Int, clientLimit: Int = .max, onCrowdGone: @escaping @Sendable () -> Void = {}) {
        (self.limit, self.clientLimit, self.onCrowdGone) = (limit, clientLimit, onCrowdGone)
    }

    /// Adds a new connection, which owes its first request.
    /// - Parameter client: `nil`: connections are not counted for each client.
    /// - Returns: The number under which the service waits for it.
    func enter(_ channel: any Channel, client: IPAddress? = nil) -> UInt64 {
        let (number, closed) = state.withLock { state in
            state.count += 1
            state.peak = max(state.peak, state.count)
            var closed: (any Channel)?
            if let client {
                state.clients[client, default: 0] += 1
                // If the service waits for none of them, the new one is closed.
                if state.clients[client, default: 0] > clientLimit {
                    closed = state.removeOldest(of: client) ?? channel
                }
            }
            if closed == nil, state.count > limit { closed = state.removeOldest(of: nil) }
            return (state.wait(channel, client), closed)
        }
        // Outside of the lock, since closing calls `leave`; and later, since the new connection may not be open yet.
        if let closed { closed.eventLoop.execute { closed.close(promise: nil) } }
        return number
    }

    /// Begins to wait for a client.
    /// - Returns: The number for `endWait`.
    func wait(_ channel: any Channel, client: IPAddress? = nil) -> UInt64 {
        state.withLock { $0.wait(channel, client) }
    }

    /// Ends a wait: the client has done what it owed.
    /// - Returns: False if the connection is already being closed.
    func endWait(_ number: UInt64) -> Bool { state.withLock { $0.waiting.removeValue(forKey: number) != nil } }

    /// Removes a connection that is closed.
    func leave(_ numbers: [UInt64], client: IPAddress? = nil) {
        let isCrowdGone = state.withLock { state in
            state.count -= 1
            if let client, let count = state.clients[client] { state.clients[client] = count > 1 ? count - 1 : nil }
            for number in numbers { state.waiting[number] = nil }
            guard state.peak >= Self.crowd, state.count <= state.peak / 4 else { return false }
            state.peak = state.count
            return true
        }
        if isCrowdGone { onCrowdGone() }
    }
}

extension ConnectionLimit.State {
    fileprivate mutating func wait(_ channel: any Channel, _ client: IPAddress?) -> UInt64 {
        next += 1
        waiting[next] = .init(channel: channel, client: client)
        order.append(next)
        // At most half of the list is out of date.
        if order.count > 64, order.count > 2 * waiting.count { order = ArraySlice(order.filter { waiting[$0] != nil }) }
        return next
    }

    /// Removes the connection that has kept the service waiting longest.
    /// - Parameter client: The client whose connections are considered; `nil`: any client.
    /// - Returns: `nil` if the service waits for none of them.
    fileprivate mutating func removeOldest(of client: IPAddress?) -> (any Channel)? {
        for (index, number) in zip(order.indices, order) {
            guard let found = waiting[number], client == nil || found.client == client else { continue }
            waiting[number] = nil
            if client == nil { order = order[(index + 1)...] }
            return found.channel
        }
        return nil
    }
}
