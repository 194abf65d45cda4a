import HTTPTypes
import Hummingbird
import Model
import Storage

/// Manages tokens, for admins. A secret is shown only once, in the answer that creates it.
struct TokenRoutes: Sendable {
    let site: Site

    var routes: [Route] {
        [
            Route(.get, "/api/v1/tokens", .role(.admin), "All tokens, without their secrets.") { _ in
                .json(.list(try await site.store.tokens().map { JSONValue($0) }))
            },
            Route(.post, "/api/v1/tokens", .role(.admin), "Makes a token: {name, role}.") { call in
                let body = try await call.json(Body.self)
                guard let name = Name(body.name) else {
                    throw Problem(
                        400, "`name` is 1 to 64 of a–z, 0–9, `.`, `_` and `-`, beginning with a letter or digit.")
                }
                guard let role = Role(rawValue: body.role) else {
                    throw Problem(400, "`role` is viewer, operator or admin.")
                }
                let token = BearerToken.random()
                do {
                    try await site.store.createToken(
                        name: name.description, role: role, hash: token.hash, at: site.clock())
                } catch let error as StoreError where error.code == .exists {
                    throw Problem(409, "A token of this name exists, or existed: take another name.")
                }
                return .json(
                    [
                        "name": .string(name.description), "role": .string(role.rawValue),
                        "secret": .string(token.secret),
                    ],
                    status: .created)
            },
            Route(.delete, "/api/v1/tokens/{name}", .role(.admin), "Revokes a token, at once.") { call in
                guard try await site.store.revokeToken(name: call.text("name"), at: site.clock()) else {
                    throw Problem.notFound
                }
                return Response(status: .noContent)
            },
        ]
    }

    private struct Body: RequestBody {
        enum CodingKeys: CodingKey, CaseIterable { case name, role }

        var name: String
        var role: String
    }
}
