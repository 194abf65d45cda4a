import API
import Forges
import HTTPTypes
import Hummingbird
import Integrations
import Model
import Storage

/// Receives webhooks and lists the received ones (the ledger).
struct LedgerRoutes: Sendable {
    let site: Site

    var routes: [Route] {
        [
            Route(
                .post, "/webhooks/push/{bot}", .signature, bodyLimit: PushRequest.maximumBodyBytes,
                "A signed push: X-Hub-Signature-256 over the raw body; X-Martlet-Delivery."
            ) { call in
                guard let bot = Name(call.text("bot")) else {
                    // The answer is that of a wrong signature, so that bot names cannot be probed.
                    throw Problem(401, "The signature is missing or wrong.")
                }
                try call.statedLength()
                let headers = call.request.headers
                let signature = HTTPField.Name("X-Hub-Signature-256").flatMap { headers[$0] }
                let isSigned = signature?.hasPrefix("sha256=") == true && signature?.utf8.count == 71
                let push = PushRequest(
                    bot: bot, signature: signature,
                    delivery: HTTPField.Name("X-Martlet-Delivery").flatMap { headers[$0] },
                    // Without a well-formed signature the body is not read.
                    body: isSigned ? try await call.webhookBody() : WebhookBody([]))
                let acceptance = try await site.operations.receive(push)
                return try .json(
                    API.PushAcceptance(delivery: acceptance.delivery, duplicate: acceptance.isDuplicate),
                    status: .accepted)
            }.described("push", .ledger, .json(API.PushAcceptance.self), status: 202),
            Route(
                .post, "/webhooks/{forge}/{bot}", .signature, bodyLimit: PushRequest.maximumBodyBytes,
                "A forge's event, signed as it does: github, gitlab, gitea, forgejo, gogs, bitbucket, bitbucket-server."
            ) { call in
                let forge = try forge(call)
                guard let bot = Name(call.text("bot")) else {
                    throw Problem(401, "The signature is missing or wrong.")
                }
                return try await receive(call, forge, bot)
            }.described("receiveEventOfBot", .ledger, .json(API.WebhookAcceptance.self), status: 202),
            Route(
                .post, "/webhooks/{forge}", .signature, bodyLimit: PushRequest.maximumBodyBytes,
                "The same for all bots of a forge: the signature and the repository that the event names say which."
            ) { call in try await receive(call, try forge(call), nil) }.described(
                "receiveEvent", .ledger, .json(API.WebhookAcceptance.self), status: 202),
            Route(.get, "/api/v1/deliveries", .read, "What came in and what became of it, newest first.") { call in
                let (limit, before) = try call.page()
                let page = try await site.store.deliveries(limit: limit, before: before)
                return try .json(API.List(page.items.map { API.Delivery($0) }, next: page.next))
            }.described("listDeliveries", .ledger, query: [.limit(), .before], .json(API.List<API.Delivery>.self)),
            Route(.get, "/api/v1/ref-updates", .read, "What moved in the repositories, newest first.") { call in
                let (limit, before) = try call.page()
                let page = try await site.store.refUpdates(limit: limit, before: before)
                return try .json(API.List(page.items.map { API.RefUpdate($0) }, next: page.next))
            }.described("listRefUpdates", .ledger, query: [.limit(), .before], .json(API.List<API.RefUpdate>.self)),
        ]
    }

    private func forge(_ call: AuthorizedRequest) throws(Problem) -> Forge {
        guard let forge = Forge(rawValue: call.text("forge")), forge != .push else { throw .notFound }
        return forge
    }

    private func receive(_ call: AuthorizedRequest, _ forge: Forge, _ bot: Name?) async throws -> Response {
        try call.statedLength()
        var headers: [String: String] = [:]
        for field in call.request.headers {
            let name = field.name.canonicalName
            headers[name] = headers[name].map { "\($0), \(field.value)" } ?? field.value
        }
        var delivery = ForgeDelivery(forge: forge, bot: bot, headers: headers, body: [])
        if delivery.showsProof { delivery.body = try await call.webhookBody() }
        let acceptance = try await site.operations.receive(delivery)
        return try .json(
            API.WebhookAcceptance(
                delivery: acceptance.delivery, duplicate: acceptance.isDuplicate, ignored: acceptance.ignored),
            status: .accepted)
    }
}
