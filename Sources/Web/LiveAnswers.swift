import Hummingbird
import NIOCore
import ServiceLifecycle
import Storage
import Synchronization

/// The streams and downloads that are under way to callers whose right to them can be taken away: it closes the connection of an answer within
/// a second after its token was revoked or has disappeared, or its product was closed to anonymous readers. Other answers are whole before
/// they are sent, and are not closed: one of them may be that of the very revocation.
///
/// Without it a followed log, a stream of events or a slow download would go on for as long as the client reads.
final class LiveAnswers: Service {
    /// What an answer is given by.
    enum Permit: Hashable, Sendable {
        /// A token that can be used, by its hash.
        case token(String)
        /// That anybody may read what a route of products shows. All downloads of a product have one, so that it is asked for once.
        case product(ProductScope)
    }

    /// How often permits are asked for that were changed without a change of ours, as when a backup of the database was restored.
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

    /// - Parameter isGiven: Whether a permit still holds.
    init(
        store: Store, interval: Duration = LiveAnswers.interval,
        isGiven: @escaping @Sendable (Permit) async throws -> Bool
    ) {
        (self.store, self.interval, self.isGiven) = (store, interval, isGiven)
    }

    /// How many there are.
    var count: Int { state.withLock { $0.answers.count } }

    /// Begins an answer, which is under way for as long as the entry lives.
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

        /// The same body, with which the answer ends; also where it is dropped unsent.
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
                    // Ended by its cancellation alone.
                    while (try? await Task.sleep(for: self.interval)) != nil { await self.check() }
                }
            }
        }
    }

    /// Closes the connections of those whose permit is gone.
    private func check() async {
        let answers = state.withLock { $0.answers }
        var given: [Permit: Bool] = [:]
        for answer in answers.values {
            let isGiven: Bool
            if let known = given[answer.permit] {
                isGiven = known
            } else {
                // A database that cannot be read says nothing of anybody's rights: the next time does.
                isGiven = (try? await self.isGiven(answer.permit)) ?? true
                given[answer.permit] = isGiven
            }
            if !isGiven { answer.channel.close(promise: nil) }
        }
    }
}
