import Integrations
import Model
import Notifications
import Storage
import TestSupport

/// A sender that gives the test's outcomes, and records its messages.
final class ScriptedSender: OutboxSender {
    private struct State: Sendable {
        var given: [OutboxMessage] = []
        var outcomes: [String: [OutboxOutcome]] = [:]
        var silent: Set<String> = []
        var silentBots: Set<Name> = []
        var active = 0
        var mostActive = 0
    }

    let kind: OutboxDestination.Kind
    private let state = Locked(State())

    init(_ kind: OutboxDestination.Kind = .status) { self.kind = kind }

    /// Sets the next outcomes of a destination. After them all messages are sent.
    func answer(_ destination: String, with outcomes: OutboxOutcome...) {
        state.withLock { $0.outcomes[destination, default: []] += outcomes }
    }

    /// Makes a destination never answer until the daemon stops.
    func silence(_ destination: String) { state.withLock { _ = $0.silent.insert(destination) } }

    /// Makes only one bot's messages unanswered.
    func silence(bot: Name) { state.withLock { _ = $0.silentBots.insert(bot) } }

    /// The messages so far, in order.
    var given: [OutboxMessage] { state.value.given }
    /// The largest number of concurrent messages.
    var mostActive: Int { state.value.mostActive }

    func send(_ message: OutboxMessage) async -> OutboxOutcome {
        let isSilent = state.withLock { state in
            state.given.append(message)
            state.active += 1
            state.mostActive = max(state.mostActive, state.active)
            return state.silent.contains(message.destination) || state.silentBots.contains(message.bot)
        }
        defer { state.withLock { $0.active -= 1 } }
        if isSilent {
            for await _ in AsyncStream<Never>.makeStream().stream {}
            return .interrupted
        }
        return state.withLock { state in
            guard let next = state.outcomes[message.destination]?.first else { return .sent() }
            state.outcomes[message.destination]?.removeFirst()
            return next
        }
    }
}
