import API
import HTTPTypes
import Hummingbird
import Model
import ServiceLifecycle
import Storage

/// `/api/v1/events`: sends changes as server-sent events (WHATWG HTML, section 9.2).
///
/// An event only states what changed, and the client reads the new state itself. A slow client misses events, but delays nothing else.
final class EventRoutes: Sendable {
    /// The number of events that are buffered for a client that does not read.
    private static let bufferedEvents = 64
    /// The interval at which a comment is sent, which detects a client that has gone away.
    private static let heartbeat: Duration = .seconds(15)
    /// 32 bytes, so that clients that disconnect below 1 byte a second, such as `martlet`, stay connected.
    private static let nothing = ": nothing changed, still here.\n\n"

    private let store: Store

    init(store: Store) { self.store = store }

    var routes: [Route] {
        [
            Route(.get, "/api/v1/events", .read, "Server-sent events: what changed.") { _ in self.stream() }.described(
                "followEvents", .events, .media("text/event-stream")
            ).costing(
                .stream)
        ]
    }

    private func stream() -> Response {
        .events(
            ResponseBody { [store] writer in
                let (lines, continuation) = AsyncStream.makeStream(
                    of: String.self, bufferingPolicy: .bufferingNewest(Self.bufferedEvents))
                // Subscribes before the first byte is sent, so that a client that has read it misses no later change.
                let changes = store.changes()
                try await withGracefulShutdownHandler {
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        group.addTask {
                            for await change in changes {
                                if let event = try Self.event(change) { continuation.yield(event) }
                            }
                            continuation.finish()
                        }
                        group.addTask {
                            while !Task.isCancelled {
                                try await Task.sleep(for: Self.heartbeat)
                                continuation.yield(Self.nothing)
                            }
                        }
                        defer { group.cancelAll() }
                        try await writer.write(ByteBuffer(string: "retry: 3000\n\n"))
                        for await line in lines { try await writer.write(ByteBuffer(string: line)) }
                    }
                } onGracefulShutdown: {
                    continuation.finish()
                }
                try await writer.finish(nil)
            })
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
