import Hummingbird
import Model
import Storage

extension Pages {
    func deliveries(_ call: AuthorizedRequest) async throws -> Response {
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
        let waits = Self.waits(record.outcome, record.reason)
        // The reason is shown once if the only update has the same reason.
        let isSaidBelow = record.refUpdates.count == 1 && record.refUpdates[0].reason == record.reason
        let source = record.source.rawValue
        // The row's number in the database is meaningless to readers.
        let isNamed = record.id != String(record.rowID)
        let (asked, rest) = record.refUpdates.isEmpty ? Self.integration(in: record.reason) : (nil, record.reason)
        return [
            "received": .text(record.receivedAt), "when": .text(PageText.age(record.receivedAt, now: site.clock())),
            "source": .text(source), "hook": .text(record.hook == source ? nil : record.hook),
            "id": .text(isNamed ? record.id : nil),
            "fate": .text(waits ? "waiting" : record.outcome.rawValue),
            "tone": .text(waits ? "busy" : Self.tone(record.outcome)), "reason": .text(isSaidBelow ? nil : rest),
            "asked": .list(asked.map { [["id": .text($0), "href": .text("/bots/\($0.bot)/\($0.number)")]] } ?? []),
            "updates": .list(record.refUpdates.map(update)),
        ]
    }

    /// Returns whether the event was accepted and waits for an operator's approval.
    private static func waits(_ outcome: EventOutcome, _ reason: String?) -> Bool {
        outcome == .refused && reason?.hasPrefix(Store.waitsForOperator) == true
    }

    /// Splits a reason such as `kit#3, asked for by Ann` into the integration and the rest. A reason without an integration stays whole.
    private static func integration(in reason: String?) -> (IntegrationID?, String?) {
        let parts = reason?.split(separator: ",", maxSplits: 1).map(String.init) ?? []
        guard parts.count == 2, let id = IntegrationID(parts[0]) else { return (nil, reason) }
        return (id, String(parts[1].drop { $0 == " " }))
    }

    private func update(_ record: RefUpdateRecord) -> ViewObject {
        [
            "ref": .text(record.ref.shortName), "before": .text(record.before?.abbreviated ?? "none"),
            "after": .text(record.after?.abbreviated ?? "deleted"),
            "fate": .text(Self.waits(record.outcome, record.reason) ? "waiting" : record.outcome.rawValue),
            "reason": .text(record.reason),
            "integrations": .list(
                record.integrations.map { ["id": .text($0), "href": .text("/bots/\($0.bot)/\($0.number)")] }),
        ]
    }

    private static func tone(_ outcome: EventOutcome) -> String {
        switch outcome {
        case .integrated: "good"
        case .pending: "busy"
        case .refused: "bad"
        case .coalesced, .duplicate, .baseline, .superseded, .ignored: "none"
        }
    }
}
