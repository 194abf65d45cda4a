import Model
import NIOCore
import Synchronization

/// Counts the bytes that a client has sent or read of one request, which identifies slow clients.
final class Progress: Sendable {
    private let count = Atomic<Int64>(0)

    var bytes: Int64 { count.load(ordering: .relaxed) }

    func add(_ bytes: Int) { count.wrappingAdd(Int64(bytes), ordering: .relaxed) }
}

/// Limits what clients hold while they send or read: places, or bytes on the disk.
///
/// If the limit is reached, the connection of the slowest holder is closed: the one with the fewest bytes per second since it began. A client that
/// stops reading, or sends a byte now and then, therefore cannot keep others out.
final class HolderLimit: Sendable {
    private struct Entry {
        var amount: Int64
        let client: IPAddress?
        let channel: any Channel
        let progress: Progress
        /// `nil` while the answer is computed: the client has nothing to read yet.
        var since: ContinuousClock.Instant?
    }

    private struct State {
        var amount: Int64 = 0
        var next = 0
        var entries: [Int: Entry] = [:]
        var clients: [IPAddress: Int] = [:]
    }

    /// A holder keeps its place at least this long, because a rate over a shorter time is meaningless.
    static let protection = Duration.seconds(1)

    private let total: Int64
    private let clientLimit: Int
    private let closesSlowest: Bool
    private let refusal: String
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    /// - Parameters:
    ///   - total: The amount that all holders together may have.
    ///   - clientLimit: The most holders of one client.
    /// - closesSlowest: If false, a new holder is refused when the limit is reached. Event streams are slow by nature.
    ///   - refusal: The message to a refused client.
    init(
        total: Int64, clientLimit: Int, closesSlowest: Bool = true, refusal: String,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        (self.total, self.clientLimit, self.closesSlowest) = (total, clientLimit, closesSlowest)
        (self.refusal, self.now) = (refusal, now)
    }

    /// The amount that is held now.
    var held: Int64 { state.withLock { $0.amount } }

    /// Adds a holder, which lasts until the returned object is released.
    /// - Throws: 503 if the limit is reached, or the client has too many holders.
    func hold(
        _ amount: Int64 = 0, for asker: Asker, on channel: any Channel, _ progress: Progress, hasBegun: Bool = true
    ) throws(Problem) -> Holder {
        let client = asker.client
        let number: Int? = state.withLock { state in
            if let client, state.clients[client, default: 0] >= clientLimit { return nil }
            if let client { state.clients[client, default: 0] += 1 }
            state.next += 1
            state.entries[state.next] = Entry(
                amount: 0, client: client, channel: channel, progress: progress, since: hasBegun ? now() : nil)
            return state.next
        }
        guard let number else { throw .busy(refusal) }
        let holder = Holder(number, of: self)
        try grow(number, by: amount)
        return holder
    }

    private func grow(_ number: Int, by amount: Int64) throws(Problem) {
        var closed: [any Channel] = []
        let hasRoom = state.withLock { state in
            // Its own connection was closed for another.
            guard state.entries[number] != nil else { return false }
            while state.amount + amount > total {
                guard closesSlowest, let slowest = slowest(state, except: number) else { return false }
                closed += remove(slowest, from: &state).map { [$0.channel] } ?? []
            }
            state.amount += amount
            state.entries[number]?.amount += amount
            return true
        }
        for channel in closed { channel.close(promise: nil) }
        if !hasRoom { throw .busy(refusal) }
    }

    /// Returns the holder with the lowest rate, among those that hold something and have existed long enough to have a rate; `nil` if there is none.
    private func slowest(_ state: State, except number: Int) -> Int? {
        let now = now()
        var found: (number: Int, rate: Double)?
        for (other, entry) in state.entries where other != number && entry.amount > 0 {
            guard let since = entry.since else { continue }
            let time = now - since
            guard time >= Self.protection else { continue }
            let rate = Double(entry.progress.bytes) / (time / .seconds(1))
            // Among equals the oldest, so that the choice does not depend on a dictionary's order.
            if let best = found, (best.rate, best.number) < (rate, other) { continue }
            found = (other, rate)
        }
        return found?.number
    }

    private func remove(_ number: Int, from state: inout State) -> Entry? {
        guard let entry = state.entries.removeValue(forKey: number) else { return nil }
        state.amount -= entry.amount
        if let client = entry.client, let count = state.clients[client] {
            state.clients[client] = count > 1 ? count - 1 : nil
        }
        return entry
    }

    /// The amount that one request holds.
    final class Holder: Sendable {
        private let number: Int
        private let limit: HolderLimit

        fileprivate init(_ number: Int, of limit: HolderLimit) { (self.number, self.limit) = (number, limit) }

        /// Increases the held amount.
        /// - Throws: 503 if the limit is reached, or this holder's connection was closed for another.
        func grow(by amount: Int) throws(Problem) { try limit.grow(number, by: Int64(amount)) }

        /// Counts the client's rate from now on, where it could neither send nor read before.
        func begin() {
            limit.state.withLock { state in
                if state.entries[number]?.since == nil { state.entries[number]?.since = limit.now() }
            }
        }

        deinit { limit.state.withLock { _ = limit.remove(number, from: &$0) } }
    }
}
