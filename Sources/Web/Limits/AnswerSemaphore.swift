import NIOCore
import Synchronization

/// The client of a request, as limits count it.
struct Asker: Sendable {
    /// `nil`: requests are not counted for each client.
    var client: ClientAddress?
    /// Whether it showed a token or came over the Unix socket.
    var isKnown: Bool
    /// Whether it came over the Unix socket, whose peers are the operator's own.
    var isLocal = false

    static let anonymous = Asker(client: nil, isKnown: false)
}

/// Limits how many answers are computed at the same time. Others wait in a queue: callers with a token before anonymous ones, each in order. A full
/// queue refuses.
final class AnswerSemaphore: Sendable {
    private struct Waiter {
        let client: ClientAddress?
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var running = 0
        var known: [Waiter] = []
        var anonymous: [Waiter] = []
        /// The number of each client's anonymous answers, in progress and waiting.
        var clients: [ClientAddress: Int] = [:]
    }

    private let count: Int
    private let queue: Int
    private let clientLimit: Int
    private let onIdle: @Sendable () -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - count: The most answers that are computed at the same time.
    ///   - queue: The most answers that wait, for anonymous and for known callers each.
    ///   - clientLimit: The most answers of one anonymous client, in progress and waiting.
    ///   - onIdle: Called when the last answer is done and none waits.
    init(count: Int, queue: Int, clientLimit: Int, onIdle: @escaping @Sendable () -> Void = {}) {
        (self.count, self.queue, self.clientLimit, self.onIdle) = (count, queue, clientLimit, onIdle)
    }

    /// The number of waiting answers.
    var waitingCount: Int { state.withLock { $0.known.count + $0.anonymous.count } }

    /// Waits for a turn, which ends when the returned object is released.
    /// - Throws: 503 if too many answers wait.
    func acquire(_ asker: Asker) async throws(Problem) -> Turn {
        let client = asker.isKnown ? nil : asker.client
        var isFull = false
        await withCheckedContinuation { continuation in
            let goesOn = state.withLock { state in
                if let client, state.clients[client, default: 0] >= clientLimit {
                    isFull = true
                    return true
                }
                if state.running < count {
                    state.running += 1
                } else if asker.isLocal || (asker.isKnown ? state.known : state.anonymous).count < queue {
                    let waiter = Waiter(client: client, continuation: continuation)
                    if asker.isKnown { state.known.append(waiter) } else { state.anonymous.append(waiter) }
                    if let client { state.clients[client, default: 0] += 1 }
                    return false
                } else {
                    isFull = true
                    return true
                }
                if let client { state.clients[client, default: 0] += 1 }
                return true
            }
            if goesOn { continuation.resume() }
        }
        if isFull { throw .busy("Too many answers are being computed; ask again in a while.") }
        return Turn(of: self, client: client)
    }

    private func release(_ client: ClientAddress?) {
        let (next, isIdle) = state.withLock { state -> (Waiter?, Bool) in
            if let client, let count = state.clients[client] { state.clients[client] = count > 1 ? count - 1 : nil }
            if !state.known.isEmpty { return (state.known.removeFirst(), false) }
            if !state.anonymous.isEmpty { return (state.anonymous.removeFirst(), false) }
            state.running -= 1
            return (nil, state.running == 0)
        }
        next?.continuation.resume()
        if isIdle { onIdle() }
    }

    /// The right to compute an answer.
    final class Turn: Sendable {
        private let semaphore: AnswerSemaphore
        private let client: ClientAddress?

        fileprivate init(of semaphore: AnswerSemaphore, client: ClientAddress?) {
            (self.semaphore, self.client) = (semaphore, client)
        }

        deinit { semaphore.release(client) }
    }
}
