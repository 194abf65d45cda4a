import Synchronization

/// Places for those who listen to server-sent events, of which there are only so many.
final class Seats: Sendable {
    private let count: Int
    private let taken = Atomic<Int>(0)
    private let advice: String

    /// - Parameter advice: What one who finds none can do instead.
    init(_ count: Int, advice: String) {
        (self.count, self.advice) = (count, advice)
    }

    /// Free again when the seat is let go.
    /// - Throws: 503 when all are taken.
    func take() throws(Problem) -> Seat {
        let before = taken.wrappingAdd(1, ordering: .relaxed).oldValue
        let seat = Seat(of: self)
        if before >= count { throw Problem(503, "Too many are listening; \(advice) instead.") }
        return seat
    }

    /// A reader's place.
    final class Seat: Sendable {
        private let seats: Seats

        fileprivate init(of seats: Seats) { self.seats = seats }

        deinit { seats.taken.wrappingSubtract(1, ordering: .relaxed) }
    }
}
