import HTTPTypes
import Hummingbird
import Integrations
import Model
import Storage

/// Webhooks in, and the ledger of what came in.
struct LedgerRoutes: Sendable {
    let site: Site

    var routes: [Route] {
        [
            Route(
                .post, "/webhooks/push/{bot}", .signature, bodyLimit: PushRequest.maximumBodyBytes,
                "A signed push: X-Hub-Signature-256 over the raw body; X-Martlet-Delivery."
            ) { call in
                guard let bot = Name(call.text("bot")) else {
                    // The same answer as a wrong signature's, so that names cannot be probed.
                    throw Problem(401, "The signature is missing or wrong.")
                }
                let headers = call.request.headers
                let push = PushRequest(
                    bot: bot, signature: HTTPField.Name("X-Hub-Signature-256").flatMap { headers[$0] },
                    delivery: HTTPField.Name("X-Martlet-Delivery").flatMap { headers[$0] }, body: try await call.body())
                let acceptance = try await site.operations.receive(push)
                return .json(
                    ["delivery": .string(acceptance.delivery), "duplicate": .bool(acceptance.isDuplicate)],
                    status: .accepted)
            },
            Route(.get, "/api/v1/deliveries", .read, "What came in and what became of it, newest first.") { call in
                let (limit, before) = try call.page()
                let page = try await site.store.deliveries(limit: limit, before: before)
                return .json(.list(page.items.map { JSONValue($0) }, next: page.next))
            },
            Route(.get, "/api/v1/ref-updates", .read, "What moved in the repositories, newest first.") { call in
                let (limit, before) = try call.page()
                let page = try await site.store.refUpdates(limit: limit, before: before)
                return .json(.list(page.items.map { JSONValue($0) }, next: page.next))
            },
        ]
    }
}
