import Synchronization

/// A number that many share: whoever needs more than is left waits for others to end, in order.
final class ByteBudget: Sendable {
    private struct State {
        var left: Int
        var waiting: ArraySlice<(bytes: Int, continuation: CheckedContinuation<Void, Never>)> = []
    }

    /// The most that wait; more are told to come again.
    static let maximumWaiting = 16

    private let state: Mutex<State>

    /// - Parameter bytes: At least what one may take.
    init(_ bytes: Int) { state = Mutex(State(left: bytes)) }

    /// How many wait.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Given back when the share is let go. Waits for as long as those before it take: what fills a share has a deadline of its own.
    /// - Throws: 503 when too many wait.
    func take(_ bytes: Int) async throws(Problem) -> Share {
        var isFull = false
        await withCheckedContinuation { continuation in
            let mayGoOn = state.withLock { state in
                if state.waiting.isEmpty, bytes <= state.left {
                    state.left -= bytes
                    return true
                }
                isFull = state.waiting.count >= Self.maximumWaiting
                if !isFull { state.waiting.append((bytes, continuation)) }
                return isFull
            }
            if mayGoOn { continuation.resume() }
        }
        if isFull { throw Problem(503, "Too many large bodies are on their way; send it again in a while.") }
        return Share(bytes, of: self)
    }

    private func give(_ bytes: Int) {
        let next = state.withLock { state in
            state.left += bytes
            var next: [CheckedContinuation<Void, Never>] = []
            while let first = state.waiting.first, first.bytes <= state.left {
                state.left -= first.bytes
                next.append(first.continuation)
                state.waiting.removeFirst()
            }
            return next
        }
        for continuation in next { continuation.resume() }
    }

    /// A part of the budget.
    final class Share: Sendable {
        private let bytes: Int
        private let budget: ByteBudget

        fileprivate init(_ bytes: Int, of budget: ByteBudget) { (self.bytes, self.budget) = (bytes, budget) }

        deinit { budget.give(bytes) }
    }
}
