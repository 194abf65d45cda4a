package import Model

/// The client behind a request.
package struct Caller: Sendable, Hashable {
    /// The token's name, or the user's name for a client of the Unix socket. It appears in the log and in the integration's `requestedBy`.
    package let name: String
    /// Its roles, each everywhere or on some bots.
    package let rights: Rights
    /// Whether it connected over the Unix socket.
    package let isLocal: Bool
    /// The token that forms of this person's pages send back; `nil` for a caller that signed in with no browser.
    let csrf: String?
    /// Whether the caller has a session, which it can end.
    let hasSession: Bool

    /// The role on every bot and the service as a whole; `nil` for a caller without a token, and for one whose roles are limited to bots.
    package var role: Role? { rights.role }
    /// Whether it has a role anywhere.
    package var isKnown: Bool { !rights.isEmpty }

    package init(name: String, rights: Rights) {
        self.init(name: name, rights: rights, csrf: nil, hasSession: false)
    }

    /// Creates the caller for a person who has signed in with a browser.
    /// - Parameter hasSession: Whether the person can sign out here; a proxy's person cannot.
    init(name: String, rights: Rights, csrf: String?, hasSession: Bool) {
        self.name = name
        self.rights = rights
        self.csrf = csrf
        self.hasSession = hasSession
        isLocal = false
    }

    /// Creates the caller for a peer of the Unix socket. The socket's mode is 0600, so the peer has the daemon's own uid or is root.
    /// - Parameter said: The user's name that the peer states. Anything but 1 to 64 visible ASCII characters is replaced with `local`.
    package init(local said: String?) {
        let isPlain = said.map { $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } && (1...64).contains($0.utf8.count) }
        name = isPlain == true ? said ?? "local" : "local"
        rights = Rights(.admin)
        csrf = nil
        hasSession = false
        isLocal = true
    }

    /// The header in which the command line states the user's name.
    static let personHeader = "Martlet-Person"

    package static let anonymous = Caller(name: "anonymous", rights: .anonymous)
}
