package import Model

/// The access rule of a route.
package enum Access: Sendable, Hashable, CustomStringConvertible {
    /// No access rule, for routes that reveal no build results (the style sheet, `/health`), or that check a proof in the body.
    case open
    /// Reading: anybody if the settings have `anonymous: read`, otherwise a token of any role.
    case read
    /// Reading a product: anybody if the product is public, otherwise a token of any role. A route without a product in its path is open to anybody
    /// as soon as one product is public; it then lists only public products.
    case product
    /// A token of at least this role.
    case role(Role)
    /// The one-time token of an attempt in the body, which `Operations` verifies. Other tokens are ignored.
    case attempt
    /// A client of the Unix socket, which runs on the service's machine. A token is no proof of that.
    case local
    /// A form of a page, of a person of at least this role who has signed in with a browser. `Route.form` checks the form's token.
    case form(Role)
    /// The sign-in form: anybody, but only from a page of the service itself.
    case signIn
    /// A signature over the raw body, which `Operations` verifies. Tokens are ignored.
    case signature

    /// Whether only forms of the service's own pages send such requests.
    var isForm: Bool {
        switch self {
        case .form, .signIn: true
        case .open, .read, .product, .role, .local, .attempt, .signature: false
        }
    }

    /// Whether requests need neither a token nor a session: they reveal no build results, or prove their right by something else.
    package var isWithoutUser: Bool {
        switch self {
        case .open, .signIn, .attempt, .signature: true
        case .read, .product, .role, .local, .form: false
        }
    }

    package var description: String {
        switch self {
        case .open: "open"
        case .read: "read"
        case .product: "product"
        case .role(let role): role.rawValue
        case .local: "local"
        case .attempt: "attempt"
        case .form(let role): "form of \(role.rawValue)"
        case .signIn: "sign-in"
        case .signature: "signature"
        }
    }

    /// Checks whether a caller may use the route.
    /// - Parameters:
    ///   - role: The caller's role on what the route is about (`Reach`); `nil` if it has none there.
    ///   - anonymousMayRead: Whether anybody may read what the route shows.
    /// - Returns: `nil` if the caller is allowed; 401 for a caller without a token; 403 if its role is too low or limited to bots that the route is
    ///   not about, or it is on another machine. The answer depends on the request and the caller alone, never on what exists.
    package func refusal(of caller: Caller, as role: Role?, anonymousMayRead: Bool) -> Problem? {
        let needed: Role
        switch self {
        case .open, .signIn, .attempt, .signature: return nil
        case .read, .product:
            if anonymousMayRead { return nil }
            needed = .viewer
        case .role(let role): needed = role
        case .local:
            guard !caller.isLocal else { return nil }
            guard caller.isKnown else { return .needsToken }
            return Problem(403, "This is for commands on the service's machine, which use its Unix socket.")
        case .form(let role):
            guard caller.csrf != nil else {
                return Problem(
                    401,
                    "This is a form of a page: sign in with a browser. Programs use the HTTP interface, /openapi.json.")
            }
            needed = role
        }
        guard let role else { return caller.isKnown ? .elsewhere(caller.rights) : .needsToken }
        guard role >= needed else {
            return Problem(403, "This needs a token with the role \(needed.rawValue); yours is \(role.rawValue).")
        }
        return nil
    }
}
