package import API
import HTTPTypes
import Hummingbird
import Integrations
import Model
package import Settings

/// Lists secrets without their values, and records what commands change of them on the service's machine.
struct SecretRoutes: Sendable {
    let site: Site

    var routes: [Route] {
        [
            Route(.get, "/api/v1/secrets", .role(.admin), "The names of all secrets and their uses, never a value.") {
                _ in try .json(API.List(await site.operations.secrets.list().map { API.Secret($0) }))
            }.described("listSecrets", .system, .json(API.List<API.Secret>.self)),
            Route(
                .post, "/api/v1/secrets/{name}/changed", .local,
                "Records that a command changed a secret here: {change, overlapEnds}. Only on the unix socket."
            ) { call in
                let note = try await call.json(API.SecretChange.self)
                guard let action = Self.changes[note.change] else {
                    throw Problem(400, "`change` is one of \(Self.changes.keys.sorted().joined(separator: ", ")).")
                }
                let name = call.text("name")
                guard SecretStore.isName(name) else { throw Problem.notFound }
                let detail = note.overlapEnds.map { "the value before is accepted until \($0.text)" }
                try await site.record(action, by: call, name, detail)
                return Response(status: .noContent)
            }.described(
                "recordSecretChange", .system, body: API.SecretChange.self, example: ["change": "stored"], .empty,
                status: 204),
        ]
    }

    /// The actions by the words of `SecretChange`.
    static let changes: [String: AuditAction] = [
        "stored": .secretStored, "removed": .secretRemoved, "rotated": .secretRotated,
        "overlap-ended": .secretOverlapEnded,
    ]
}

extension API.Secret {
    /// Returns a secret's state as the interface shows it.
    package init(_ state: SecretState) {
        self.init(
            name: state.name, state: state.place.rawValue, changed: state.changedAt.map { API.Time($0.description) },
            overlapEnds: state.overlapEnd.map { API.Time($0.description) }, problem: state.problem,
            isOfWebhook: state.isOfWebhook, uses: state.uses)
    }
}
