package import Model

/// What a route asks of who calls it.
package enum Access: Sendable, Hashable, CustomStringConvertible {
    /// Nothing: it tells nothing about what is built (the style sheet, `/health`).
    case open
    /// Reading: anybody where `anonymous: read`, else a token of any role.
    case read
    /// Reading a product: anybody where it is public, else a token of any role. Where the path names none, anybody as soon as one is,
    /// and the answer shows those alone.
    case product
    /// A token of at least this role.
    case role(Role)
    /// A signature over the raw body, verified by `Operations`; tokens do not count.
    case signature

    package var description: String {
        switch self {
        case .open: "open"
        case .read: "read"
        case .product: "product"
        case .role(let role): role.rawValue
        case .signature: "signature"
        }
    }

    /// - Parameter anonymousMayRead: Whether anybody may read what the route shows.
    /// - Returns: Nothing when the caller may; else 401 for one without a token, 403 for one whose role is too low.
    package func refusal(of caller: Caller, anonymousMayRead: Bool) -> Problem? {
        let needed: Role
        switch self {
        case .open, .signature: return nil
        case .read, .product:
            if anonymousMayRead { return nil }
            needed = .viewer
        case .role(let role): needed = role
        }
        guard let role = caller.role else {
            return Problem(401, "This needs a token: send `Authorization: Bearer mt_…` (martlet token create).")
        }
        guard role >= needed else {
            return Problem(403, "This needs a token with the role \(needed.rawValue); yours is \(role.rawValue).")
        }
        return nil
    }
}

/// Who calls.
package struct Caller: Sendable, Hashable {
    /// The token's name, or who came by the unix socket; for the log and the integration's `requestedBy`.
    package let name: String
    /// Nothing for one without a token.
    package let role: Role?
    /// Whether it came by the unix socket.
    package let isLocal: Bool

    package init(name: String, role: Role?) {
        self.name = name
        self.role = role
        isLocal = false
    }

    /// The peer of the unix socket: the socket's mode is 0600, so it has the daemon's own uid or is root, and says who it is.
    /// - Parameter said: The user's name; what is no plain one is not taken.
    package init(local said: String?) {
        let isPlain = said.map { $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } && (1...64).contains($0.utf8.count) }
        name = isPlain == true ? said ?? "local" : "local"
        role = .admin
        isLocal = true
    }

    /// The header in which a command says whose it is.
    static let personHeader = "Martlet-Person"

    package static let anonymous = Caller(name: "anonymous", role: nil)
}
