import HTTPTypes
import Hummingbird
import Model
import ServiceLifecycle

/// `/api/v1/events`: sends changes as server-sent events (WHATWG HTML, section 9.2).
///
/// An event only states what changed, and the client reads the new state itself. A slow client delays nothing else. A client that comes back with
/// `Last-Event-ID` gets what it missed, or the event `gap` if that is not known any more.
struct EventRoutes: Sendable {
    /// The interval at which a comment is sent, which detects a client that has gone away.
    private static let heartbeat: Duration = .seconds(15)
    /// 32 bytes, so that clients that disconnect below 1 byte a second, such as `martlet`, stay connected.
    private static let nothing = ": nothing changed, still here.\n\n"

    let history: EventHistory

    var routes: [Route] {
        [
            Route(
                .get, "/api/v1/events", .read, "Server-sent events: what changed; Last-Event-ID continues a stream."
            ) { call in
                stream(from: HTTPField.Name("Last-Event-ID").flatMap { call.request.headers[$0] }, of: call.bots)
            }.described("followEvents", .events, .media("text/event-stream")).costing(.stream).reaching(.listing)
        ]
    }

    private func stream(from id: String?, of bots: BotScope?) -> Response {
        .events(
            ResponseBody { [history] writer in
                // Subscribes before the first byte is sent, so that a client that has read it misses no later change.
                let reader = history.reader(from: id, of: bots)
                let (signals, continuation) = AsyncStream.makeStream(
                    of: Bool.self, bufferingPolicy: .bufferingNewest(2))
                try await withGracefulShutdownHandler {
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        group.addTask {
                            for await _ in reader.signals { continuation.yield(true) }
                            continuation.finish()
                        }
                        group.addTask {
                            while !Task.isCancelled {
                                try await Task.sleep(for: Self.heartbeat)
                                continuation.yield(false)
                            }
                        }
                        defer { group.cancelAll() }
                        try await writer.write(ByteBuffer(string: "retry: 3000\nid: \(reader.id)\n\n"))
                        for await isChange in signals {
                            let text = reader.next()
                            if !text.isEmpty { try await writer.write(ByteBuffer(string: text)) }
                            if !isChange { try await writer.write(ByteBuffer(string: Self.nothing)) }
                        }
                    }
                } onGracefulShutdown: {
                    continuation.finish()
                }
                try await writer.finish(nil)
            })
    }
}
