import API
import Basics
import Encodings
import Model
import Storage
import Synchronization

/// The newest events of `/api/v1/events`, numbered, for clients that come back after a lost connection.
///
/// Numbers begin with 1 at each start of the service, so an id also names the start.
final class EventHistory: Sendable {
    /// The number of events that are kept. A busy service makes about ten a second; a client comes back after three seconds.
    static let maximumEvents = 1024
    /// The longest `Last-Event-ID` that is read, in bytes.
    static let maximumIDBytes = 64

    private struct Event {
        let text: String
        let change: StoreChange
    }

    private struct State {
        /// The newest events. The last one has the number `count`.
        var events: [Event] = []
        var count = 0
        var readers: [Int: AsyncStream<Void>.Continuation] = [:]
        var nextReader = 0
    }

    private let state = Mutex(State())
    /// Names this start of the service.
    let start: String
    private let kept: Int
    private let observation = Mutex<ChangeObservation?>(nil)

    /// - Parameter kept: The number of events that are kept.
    init(kept: Int = EventHistory.maximumEvents) {
        self.kept = kept
        var generator = SystemRandomNumberGenerator()
        start = Hexadecimal.encode((0..<4).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// Begins to record the changes of a store.
    func follow(_ store: Store) {
        let made = store.observe { [weak self] change in self?.record(change) }
        observation.withLock { $0 = made }
    }

    /// Records a change, unless another event already reports it.
    func record(_ change: StoreChange) {
        // The types of events can always be encoded.
        guard let text = try? Self.event(change) else { return }
        let readers = state.withLock { state in
            state.count += 1
            state.events.append(Event(text: "id: \(start)-\(state.count)\n\(text)", change: change))
            // Removing the first one each time would move all others.
            if state.events.count >= 2 * kept { state.events.removeFirst(state.events.count - kept) }
            return state.readers.values.map { $0 }
        }
        for reader in readers { reader.yield() }
    }

    /// The place of one client in the history.
    final class Reader: Sendable {
        /// Is sent something after each event.
        let signals: AsyncStream<Void>
        private let history: EventHistory
        /// The bots whose events are read; `nil`: every event.
        private let bots: BotScope?
        /// The number of the last event that was read, and a text that is sent before the next one.
        private let place: Mutex<(number: Int, before: String)>

        fileprivate init(
            _ signals: AsyncStream<Void>, _ history: EventHistory, of bots: BotScope?, after number: Int, before: String
        ) {
            (self.signals, self.history, self.bots) = (signals, history, bots)
            place = Mutex((number, before))
        }

        /// The id of the last event that was read.
        var id: String { "\(history.start)-\(place.withLock { $0.number })" }

        /// Returns the events since the last call, with a gap before them if some are not kept any more.
        func next() -> String {
            place.withLock { place in
                let (text, number) = history.events(after: place.number, of: bots)
                defer { place = (number, "") }
                return place.before + text
            }
        }
    }

    /// Begins to read.
    /// - Parameters:
    ///   - id: The id of the last event that the client has; `nil` for a client that wants only what comes.
    ///   - bots: The bots whose events are read; `nil`: every event.
    func reader(from id: String?, of bots: BotScope? = nil) -> Reader {
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (reader, count) = state.withLock { state in
            state.nextReader += 1
            state.readers[state.nextReader] = continuation
            return (state.nextReader, state.count)
        }
        continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.readers[reader] = nil } }
        guard let id else { return Reader(signals, self, of: bots, after: count, before: "") }
        // What the client missed is sent at once.
        continuation.yield()
        if let last = number(of: id, upTo: count) {
            return Reader(signals, self, of: bots, after: last, before: "")
        }
        return Reader(signals, self, of: bots, after: count, before: gap("restart", at: count))
    }

    /// Returns the number in an id; `nil` for an id of another start, and for one that this start did not give.
    private func number(of id: String, upTo count: Int) -> Int? {
        guard id.utf8.count <= Self.maximumIDBytes, id.hasPrefix(start + "-"),
            let number = Int(id.dropFirst(start.count + 1)), (0...count).contains(number)
        else { return nil }
        return number
    }

    fileprivate func events(after number: Int, of bots: BotScope?) -> (text: String, last: Int) {
        state.withLock { state in
            let kept = state.events.suffix(self.kept)
            let missing = state.count - number
            let gap = missing > kept.count ? gap("age", at: state.count - kept.count) : ""
            let shown = kept.suffix(missing).filter { Self.isShown($0.change, to: bots) }
            return (gap + shown.map(\.text).joined(), state.count)
        }
    }

    private func gap(_ reason: String, at number: Int) -> String {
        // It can always be encoded.
        let data = (try? JSONWriter.text(of: API.EventGap(reason: reason))) ?? "{}"
        return "id: \(start)-\(number)\nevent: gap\ndata: \(data)\n\n"
    }

    /// Returns whether a caller gets the event of a change. A caller whose roles are limited gets those of its bots' integrations, and those
    /// about bots in general.
    /// - Parameter bots: The bots that the roles are limited to; `nil`: every change is shown.
    static func isShown(_ change: StoreChange, to bots: BotScope?) -> Bool {
        guard let bots else { return true }
        return switch change {
        case .queued(let id), .integration(let id), .completed(let id): bots.covers(id.bot)
        // It names no bot. Which of the bots it is about, the client reads in its own listing.
        case .bots: true
        case .repository, .delivery, .outbox, .tokens, .silences, .version: false
        }
    }

    /// Returns the event for a change.
    /// - Returns: `nil` for a change that another event already reports, and for tokens, which concern only their owner.
    static func event(_ change: StoreChange) throws -> String? {
        if change == .tokens { return nil }
        if case .completed = change { return nil }
        if case .silences = change { return nil }
        let (name, data): (String, any Encodable) =
            switch change {
            case .bots: ("bots", API.Change())
            case .repository: ("repository", API.Change())
            case .delivery: ("delivery", API.Change())
            case .queued(let id), .integration(let id), .completed(let id):
                ("integration", API.IntegrationChange(bot: id.bot.description, number: id.number))
            case .outbox: ("outbox", API.Change())
            case .tokens: ("tokens", API.Change())
            case .silences: ("silences", API.Change())
            case .version(let product): ("version", API.VersionChange(product: product.description))
            }
        return "event: \(name)\ndata: \(try JSONWriter.text(of: data))\n\n"
    }
}
