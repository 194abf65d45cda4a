import Hummingbird
import Model
import Storage

extension Pages {
    func deliveries(_ call: Call) async throws -> Response {
        let (limit, before) = try call.page()
        let page = try await site.store.deliveries(limit: limit, before: before)
        return try await self.page(
            "deliveries", title: "Deliveries", section: "deliveries", watch: "deliveries",
            [
                "deliveries": .list(page.items.map(delivery)), "hasDeliveries": .flag(!page.items.isEmpty),
                "older": .text(page.next.map { "/deliveries?before=\($0)" }),
            ])
    }

    private func delivery(_ record: DeliveryRecord) -> ViewObject {
        [
            "received": .text(record.receivedAt), "when": .text(PageText.age(record.receivedAt, now: site.clock())),
            "source": .text(record.source.rawValue), "hook": .text(record.hook), "id": .text(record.id),
            "fate": .text(record.fate.rawValue), "tone": .text(Self.tone(record.fate)), "reason": .text(record.reason),
            "updates": .list(record.refUpdates.map(update)),
        ]
    }

    private func update(_ record: RefUpdateRecord) -> ViewObject {
        [
            "ref": .text(record.ref.shortName), "before": .text(record.before?.abbreviated ?? "none"),
            "after": .text(record.after?.abbreviated ?? "deleted"), "fate": .text(record.fate.rawValue),
            "reason": .text(record.reason),
            "integrations": .list(
                record.integrations.map { ["id": .text($0), "href": .text("/bots/\($0.bot)/\($0.number)")] }),
        ]
    }

    private static func tone(_ fate: Fate) -> String {
        switch fate {
        case .integrated: "good"
        case .pending: "busy"
        case .refused, .quarantined: "bad"
        case .coalesced, .duplicate, .baseline, .superseded, .ignored: "none"
        }
    }
}
