import API
import Hummingbird
import Model
import Storage

/// `/api/v1/sessions…`: lists and ends sessions, for admins.
struct SessionRoutes: Sendable {
    let site: Site

    var routes: [Route] {
        [
            Route(.get, "/api/v1/sessions", .role(.admin), "Who is signed in with a browser, the last used first.") {
                _ in
                let sessions = try await site.store.sessions(at: site.clock())
                return try .json(API.List(sessions.map { API.Session($0, rights: site.rights(of: $0)) }))
            }.described("listSessions", .tokens, .json(API.List<API.Session>.self)),
            Route(.delete, "/api/v1/sessions/{number}", .role(.admin), "Ends a session, at once.") { call in
                guard let id = Int64(call.text("number")), try await site.store.endSession(id) else {
                    throw Problem.notFound
                }
                try await site.record(.sessionEnded, by: call, "session \(id)")
                return Response(status: .noContent)
            }.described("endSession", .tokens, .empty, status: 204),
        ]
    }
}

extension API.Session {
    init(_ session: SessionRecord, rights: Rights) {
        var (token, provider): (String?, String?)
        switch session.origin {
        case .token(let name, _): token = name
        case .provider(let statement): provider = statement.issuer
        }
        self.init(
            id: session.id, person: session.person, role: rights.role?.rawValue, token: token, provider: provider,
            created: API.Time(session.createdAt), used: API.Time(session.usedAt),
            limited: API.LimitedRole.all(of: rights))
    }
}

extension API.LimitedRole {
    /// Returns the roles that are limited to bots.
    fileprivate static func all(of rights: Rights) -> [API.LimitedRole] {
        rights.grants.compactMap { grant in
            grant.bots.map { API.LimitedRole(role: grant.role.rawValue, bots: $0.texts) }
        }
    }
}
