import Hummingbird
import Model
import Storage

extension Pages {
    func outbox(_ call: AuthorizedRequest) async throws -> Response {
        let (limit, before) = try call.page()
        let state = try OutboxRoutes.state(call)
        let page = try await site.store.outbox(state, of: call.bots, limit: limit, before: before)
        let counts = try await site.store.outboxCounts(of: call.bots)
        let query = state.map { "&state=\($0.rawValue)" } ?? ""
        return try await self.page(
            "outbox", title: "Outbox", section: "deliveries", watch: "outbox",
            [
                "messages": .list(page.items.map(message)), "hasMessages": .flag(!page.items.isEmpty),
                "states": .list(
                    OutboxMessage.State.allCases.map { state in
                        [
                            "href": .text("/outbox?state=\(state.rawValue)"), "name": .text(state.rawValue),
                            "count": .text(counts[state] ?? 0), "tone": .text(Self.tone(state)),
                        ]
                    }),
                "older": .text(page.next.map { "/outbox?before=\($0)\(query)" }),
            ])
    }

    private func message(_ message: OutboxMessage) -> ViewObject {
        let now = site.clock()
        let next = message.state == .waiting && message.tries > 0 ? message.nextAt : nil
        return [
            "id": .text(message.id), "created": .text(message.createdAt),
            "when": .text(PageText.age(message.createdAt, now: now)), "kind": .text(message.kind.rawValue),
            "destination": .text(message.destination), "about": .text(OutboxText.about(message)),
            "what": .text(
                (message.integration?.description ?? message.bot.description) + (message.job.map { "/\($0)" } ?? "")),
            "href": .text(message.integration.map { "/bots/\($0.bot)/\($0.number)" } ?? "/bots/\(message.bot)"),
            "commit": .text(message.content.commit.abbreviated), "state": .text(message.state.rawValue),
            "tone": .text(Self.tone(message.state)),
            // The note of a superseded message is about its own attempts, which no longer matter.
            "note": .text(message.state == .superseded ? nil : message.note),
            "retry": .text(message.state == .givenUp ? "martlet outbox --retry \(message.id)" : nil),
            "tries": .text(message.tries > 1 ? PageText.count(message.tries, "tries", "tries") : nil),
            "next": .text(next.map { "next at \(PageText.time($0))" }),
        ]
    }

    private static func tone(_ state: OutboxMessage.State) -> String {
        switch state {
        case .sent: "good"
        case .waiting, .sending: "busy"
        case .givenUp: "bad"
        case .superseded, .unneeded: "none"
        }
    }
}
