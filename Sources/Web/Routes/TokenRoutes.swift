import API
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
                try .json(API.List(await site.store.tokens().map { API.Token($0) }))
            }.described("listTokens", .tokens, .json(API.List<API.Token>.self)),
            Route(.post, "/api/v1/tokens", .role(.admin), "Makes a token: {name, role, bots}.") { call in
                let wish = try await call.json(API.TokenRequest.self)
                guard let name = Name(wish.name) else {
                    throw Problem(
                        400, "`name` is 1 to 64 of a–z, 0–9, `.`, `_` and `-`, beginning with a letter or digit.")
                }
                guard let role = Role(rawValue: wish.role) else {
                    throw Problem(400, "`role` is viewer, operator or admin.")
                }
                let bots = try wish.bots.map(Self.scope)
                let token = BearerToken.random()
                let entry = site.entry(.tokenCreated, by: call, name, Rights(role, on: bots).words)
                do {
                    try await site.store.createToken(
                        name: name.description, role: role, bots: bots, hash: token.hash, at: site.clock(),
                        audit: entry)
                } catch let error as StoreError where error.code == .exists {
                    throw Problem(409, "A token of this name exists, or existed: take another name.")
                }
                site.log(entry)
                return try .json(
                    API.NewToken(
                        name: name.description, role: role.rawValue, bots: bots?.texts, secret: token.secret),
                    status: .created)
            }.described(
                "createToken", .tokens, body: API.TokenRequest.self,
                example: ["name": "ann", "role": "operator", "bots": ["kit", "tools-*"]],
                .json(API.NewToken.self), status: 201),
            Route(.delete, "/api/v1/tokens/{name}", .role(.admin), "Revokes a token, at once.") { call in
                let entry = site.entry(.tokenRevoked, by: call, call.text("name"))
                let isRevoked = try await site.store.revokeToken(
                    name: call.text("name"), at: site.clock(), audit: entry)
                guard isRevoked else { throw Problem.notFound }
                site.log(entry)
                return Response(status: .noContent)
            }.described("revokeToken", .tokens, .empty, status: 204),
        ]
    }

    /// - Throws: 400 for a list that is not a scope.
    private static func scope(_ texts: [String]) throws(Problem) -> BotScope {
        guard let scope = BotScope(texts) else {
            throw Problem(400, "`bots` is no list of bots: \(BotScope.problem(with: texts) ?? "").")
        }
        return scope
    }
}
