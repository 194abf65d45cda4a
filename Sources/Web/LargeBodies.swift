import Integrations
import Synchronization

/// How many large bodies are in memory at a time. A body that grows moves from one class of sizes to the next, which has fewer seats, and
/// waits for one in the order of those who do: 29 MiB in all, however many come. The largest class always comes to its end, by its
/// deadline at the latest, so that nobody waits for ever.
struct LargeBodies: Sendable {
    /// Bytes up to which a class's bodies grow, and how many of them there may be: with what a request costs besides, less than 32 MB.
    private static let classes = [
        (bytes: 256 << 10, count: 8), (bytes: 1 << 20, count: 1), (bytes: PushRequest.maximumBodyBytes, count: 1),
    ]
    /// What all take together, in bytes.
    static let maximumBytes = classes.reduce(0) { $0 + $1.bytes * $1.count }

    private let classes = Self.classes.map { (bytes: $0.bytes, seats: ByteBudget($0.count)) }

    /// Takes a seat in the class of a body that has come to `count` bytes.
    /// - Returns: Up to how many bytes it may grow there; nothing where it has that seat already.
    /// - Throws: 503 when too many wait for one.
    func grow(_ holder: Holder, to count: Int) async throws(Problem) -> Int? {
        guard count > holder.room, let place = classes.first(where: { count <= $0.bytes }) else { return nil }
        holder.hold(try await place.seats.take(1), room: place.bytes)
        return place.bytes
    }

    /// One request's seat; given back with it.
    final class Holder: Sendable {
        private let seat = Mutex<(share: ByteBudget.Share?, room: Int)>((nil, 0))

        var room: Int { seat.withLock { $0.room } }

        func hold(_ share: ByteBudget.Share, room: Int) {
            // The old one is given back out of the lock.
            let old = seat.withLock { seat in
                defer { seat = (share, room) }
                return seat.share
            }
            withExtendedLifetime(old) {}
        }
    }
}
