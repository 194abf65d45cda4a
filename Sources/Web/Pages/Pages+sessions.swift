import Hummingbird
import Model
import Storage

extension Pages {
    /// Returns the page `/sessions`: the reader's sessions, and for admins everybody's, with the tokens.
    func sessions(_ call: AuthorizedRequest) async throws -> Response {
        let now = site.clock()
        let isAdmin = call.caller.role == .admin
        let sessions = try await site.store.sessions(of: isAdmin ? nil : call.caller.name, at: now)
        let own = SessionSecret(of: call.request, at: call.place)
        var ownID: Int64?
        if let own { ownID = try await site.store.session(hash: own.hash, at: now)?.id }
        let tokens = isAdmin ? try await site.store.tokens() : []
        return try await page(
            "sessions", title: "Sessions", section: "",
            [
                "isEverybody": .flag(isAdmin), "hasSessions": .flag(!sessions.isEmpty),
                "sessions": .list(
                    sessions.map { session in
                        [
                            "id": .text(session.id), "person": .text(session.person),
                            "sessionRole": .text(Self.words(site.rights(of: session))),
                            "by": .text(Self.origin(of: session)), "isOwn": .flag(session.id == ownID),
                            "created": .text(session.createdAt), "createdText": .text(PageText.time(session.createdAt)),
                            "used": .text(session.usedAt), "usedText": .text(PageText.age(session.usedAt, now: now)),
                        ]
                    }),
                "hasTokens": .flag(!tokens.isEmpty),
                "tokens": .list(
                    tokens.map { token in
                        [
                            "name": .text(token.name), "tokenRole": .text(Rights(token.role, on: token.bots).words),
                            "created": .text(token.createdAt), "createdText": .text(PageText.time(token.createdAt)),
                            "revoked": .text(token.revokedAt.map(PageText.time)),
                        ]
                    }),
            ])
    }

    private static func words(_ rights: Rights) -> String { rights.isEmpty ? "no role" : rights.words }

    private static func origin(of session: SessionRecord) -> String {
        switch session.origin {
        case .token(let name, _): "token \(name)"
        case .provider(let statement): statement.issuer
        }
    }
}
