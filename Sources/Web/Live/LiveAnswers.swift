import Hummingbird
import NIOCore
import ServiceLifecycle
import Storage
import Synchronization

/// The answers in progress whose callers can lose their right to them. The connection of an answer is closed within a second after its token was
/// revoked or deleted, or its product was closed to anonymous readers.
///
/// Otherwise a followed log, a stream of events or a slow download would continue for as long as the client reads.
final class LiveAnswers: Service, CustomStringConvertible {
    let description = "answers in progress"

    /// The right by which an answer is given.
    enum Permit: Hashable, Sendable {
        /// A valid token, by its hash.
        case token(String)
        /// A session that has not ended, by its hash.
        case session(String)
        /// The right of everybody to read what a route of products shows. All downloads of a product share one permit, so that it is checked once.
        case product(ProductScope)
    }

    /// How often permits are checked even if the store reports no change, as after restoring a backup of the database.
    static let interval: Duration = .milliseconds(500)

    private struct Answer: Sendable {
        let permit: Permit
        let channel: any Channel
    }

    private struct State {
        var next: UInt64 = 0
        var answers: [UInt64: Answer] = [:]
    }

    private let state = Mutex(State())
    private let store: Store
    private let interval: Duration
    private let isGiven: @Sendable (Permit) async throws -> Bool

    /// Creates the list.
    /// - Parameters:
    ///   - interval: How often all permits are checked.
    ///   - isGiven: Returns whether a permit is still valid.
    init(
        store: Store, interval: Duration = LiveAnswers.interval,
        isGiven: @escaping @Sendable (Permit) async throws -> Bool
    ) {
        (self.store, self.interval, self.isGiven) = (store, interval, isGiven)
    }

    /// The number of answers in progress.
    var count: Int { state.withLock { $0.answers.count } }

    /// Registers an answer, which is in progress for as long as the entry lives.
    func begin(_ permit: Permit, over channel: any Channel) -> Entry {
        let number = state.withLock { state in
            state.next += 1
            state.answers[state.next] = Answer(permit: permit, channel: channel)
            return state.next
        }
        return Entry(number, of: self)
    }

    /// An answer's place in the list.
    final class Entry: Sendable {
        private let number: UInt64
        private let answers: LiveAnswers

        fileprivate init(_ number: UInt64, of answers: LiveAnswers) { (self.number, self.answers) = (number, answers) }

        deinit { answers.state.withLock { $0.answers[number] = nil } }

        /// Returns the same body, which keeps this entry alive until it is sent or dropped.
        func holding(_ body: ResponseBody) -> ResponseBody {
            ResponseBody(contentLength: body.contentLength) { [self] writer in
                try await body.write(writer)
                withExtendedLifetime(self) {}
            }
        }
    }

    func run() async throws {
        let changes = store.changes()
        await cancelWhenGracefulShutdown { [self] in
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for await change in changes where change.isOfAccess { await self.check() } }
                group.addTask {
                    // It ends only by cancellation.
                    while (try? await Task.sleep(for: self.interval)) != nil { await self.check() }
                }
            }
        }
    }

    /// Closes the connections of answers whose permit is gone.
    private func check() async {
        let answers = state.withLock { $0.answers }
        var given: [Permit: Bool] = [:]
        for answer in answers.values {
            let isGiven: Bool
            if let known = given[answer.permit] {
                isGiven = known
            } else {
                // If the database cannot be read, the next check decides.
                isGiven = (try? await self.isGiven(answer.permit)) ?? true
                given[answer.permit] = isGiven
            }
            if !isGiven { answer.channel.close(promise: nil) }
        }
    }
}
