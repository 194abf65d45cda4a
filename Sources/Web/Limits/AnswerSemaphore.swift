import Model
import NIOCore
import Synchronization

/// The client of a request, as limits count it.
struct Asker: Sendable {
    /// `nil`: requests are not counted for each client.
    var client: IPAddress?
    /// Whether it sent a valid token or connected over the Unix socket.
    var isKnown: Bool
    /// Whether it connected over the Unix socket, whose peers are the operator's own.
    var isLocal = false

    static let anonymous = Asker(client: nil, isKnown: false)
}

/// Limits how many answers are computed at the same time. Others wait in a queue: callers with a token before anonymous ones, each in order. A full
/// queue refuses.
final class AnswerSemaphore: Sendable {
    private struct Waiter {
        let number: UInt64
        let client: IPAddress?
        let continuation: CheckedContinuation<Outcome, Never>
    }

    private enum Outcome {
        case turn
        case refused
        case canceled
    }

    private struct State {
        var running = 0
        /// The number of the last waiter.
        var number: UInt64 = 0
        var known: [Waiter] = []
        var anonymous: [Waiter] = []
        /// The number of each client's anonymous answers, in progress and waiting.
        var clients: [IPAddress: Int] = [:]

        /// Decrements the number of a client's answers.
        mutating func forget(_ client: IPAddress?) {
            if let client, let count = clients[client] { clients[client] = count > 1 ? count - 1 : nil }
        }
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
    /// - Throws: 503 if too many answers wait; `CancellationError` if the task is canceled while it waits.
    func acquire(_ asker: Asker) async throws -> Turn {
        let client = asker.isKnown ? nil : asker.client
        let number = state.withLock { state in
            state.number += 1
            return state.number
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiter = Waiter(number: number, client: client, continuation: continuation)
                let outcome = state.withLock { enter(waiter, asker, &$0) }
                if let outcome { continuation.resume(returning: outcome) }
                // A cancellation before the waiter was added would otherwise be missed, because its handler found no waiter.
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
        switch outcome {
        case .turn: return Turn(of: self, client: client)
        case .refused: throw Problem.busy("Too many answers are being computed; ask again in a while.")
        case .canceled: throw CancellationError()
        }
    }

    /// Gives a turn or puts the waiter into a queue.
    /// - Returns: The outcome; `nil` if the waiter is in a queue.
    private func enter(_ waiter: Waiter, _ asker: Asker, _ state: inout State) -> Outcome? {
        if let client = waiter.client, state.clients[client, default: 0] >= clientLimit { return .refused }
        let hasTurn = state.running < count
        if hasTurn {
            state.running += 1
        } else if asker.isLocal || (asker.isKnown ? state.known : state.anonymous).count < queue {
            if asker.isKnown { state.known.append(waiter) } else { state.anonymous.append(waiter) }
        } else {
            return .refused
        }
        if let client = waiter.client { state.clients[client, default: 0] += 1 }
        return hasTurn ? .turn : nil
    }

    /// Removes a waiter from its queue; one that has its turn keeps it.
    private func cancel(_ number: UInt64) {
        let waiter = state.withLock { state -> Waiter? in
            let isIt = { (waiter: Waiter) in waiter.number == number }
            let waiter: Waiter
            if let index = state.anonymous.firstIndex(where: isIt) {
                waiter = state.anonymous.remove(at: index)
            } else if let index = state.known.firstIndex(where: isIt) {
                waiter = state.known.remove(at: index)
            } else {
                return nil
            }
            state.forget(waiter.client)
            return waiter
        }
        waiter?.continuation.resume(returning: .canceled)
    }

    private func release(_ client: IPAddress?) {
        let (next, isIdle) = state.withLock { state -> (Waiter?, Bool) in
            state.forget(client)
            if !state.known.isEmpty { return (state.known.removeFirst(), false) }
            if !state.anonymous.isEmpty { return (state.anonymous.removeFirst(), false) }
            state.running -= 1
            return (nil, state.running == 0)
        }
        next?.continuation.resume(returning: .turn)
        if isIdle { onIdle() }
    }

    /// The right to compute an answer.
    final class Turn: Sendable {
        private let semaphore: AnswerSemaphore
        private let client: IPAddress?

        fileprivate init(of semaphore: AnswerSemaphore, client: IPAddress?) {
            (self.semaphore, self.client) = (semaphore, client)
        }

        deinit { semaphore.release(client) }
    }
}
