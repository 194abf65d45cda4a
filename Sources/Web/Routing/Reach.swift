import Model

/// What a route is about, which decides which of a caller's roles counts there.
///
/// A route that names neither a bot nor a product is about the service, so a role that is limited to bots does not count, unless the route says
/// otherwise. `A02ScopeTests` lists what each of these routes says.
package enum Reach: String, Sendable, Hashable, CaseIterable {
    /// The bot in the path.
    case bot
    /// The product or package in the path. The role on each bot that makes it counts.
    case product
    /// Several bots or products. The highest role counts, and the answer shows only the caller's own (`AuthorizedRequest.shows`).
    case listing
    /// A bot that the handler finds in the request. The highest role counts, and the handler calls `AuthorizedRequest.require` or `shows`.
    case found
    /// No bot's data. The highest role counts.
    case nothing
    /// The service as a whole. A role that is limited to bots does not count.
    case service

    /// Returns the reach of a pattern by its parameters.
    init(of pattern: RoutePattern) {
        let text = pattern.description
        if text.contains("{bot}") {
            self = .bot
        } else if text.contains("{product}") || text.contains("{scope}/{name}") {
            self = .product
        } else {
            self = .service
        }
    }

    /// Returns the role of a caller on what a request is about.
    /// - Parameters:
    ///   - parameters: The parameters of the route's path.
    ///   - makers: Returns the bots that make a product or package. It is called only for callers whose roles are limited.
    /// - Returns: `nil` if the caller has no role there.
    func role(
        of caller: Caller, _ parameters: [String: String], makers: (ProductScope) async throws -> [Name]
    ) async rethrows -> Role? {
        let rights = caller.rights
        switch self {
        case .bot:
            // No bot can have a name that is not valid.
            guard let bot = parameters["bot"].flatMap({ Name($0) }) else { return rights.role }
            return rights.role(on: bot)
        case .product:
            guard rights.grants.contains(where: { $0.bots != nil }) else { return rights.role }
            return rights.role(on: try await makers(ProductScope(parameters)))
        case .listing, .found, .nothing: return rights.highest
        case .service: return rights.role
        }
    }
}

extension Problem {
    /// The refusal of a caller whose roles are limited to bots that a request is not about.
    static func elsewhere(_ rights: Rights) -> Problem {
        let bots = rights.scope.map { "\($0)" } ?? "some bots"
        return Problem(
            403,
            "Your role is limited to the bots \(bots). This is about another bot, or about the service as a whole; an admin can make a token for it."
        )
    }
}
