import Model

/// The ways to sign in with a browser besides a token: `sign-in` of the settings.
package struct SignInSettings: Hashable, Sendable {
    /// An OpenID Connect provider; `nil`: none.
    package var openID: OpenIDSettings?
    /// The header in which a reverse proxy names the person; `nil`: none.
    package var header: HeaderSettings?

    package init(openID: OpenIDSettings? = nil, header: HeaderSettings? = nil) {
        (self.openID, self.header) = (openID, header)
    }

    static func read(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> SignInSettings {
        var settings = SignInSettings()
        guard let node, let fields = Fields(node, Keys.signIn, of: "`sign-in`", &diagnostics) else { return settings }
        settings.openID = OpenIDSettings.read(fields["openid"], &diagnostics)
        settings.header = HeaderSettings.read(fields, &diagnostics)
        return settings
    }
}

/// An OpenID Connect provider that signs people in (OpenID Connect Core 1.0, section 3.1).
package struct OpenIDSettings: Hashable, Sendable {
    /// The provider's issuer: an https URL, or http on this machine's loopback, without a slash at its end unless the provider's has one.
    package var issuer: String
    package var clientID: String
    /// The name of the secret with the client's secret; `nil` for a public client.
    package var secret: String?
    package var roles: RoleRules

    package init(issuer: String, clientID: String, secret: String?, roles: RoleRules) {
        (self.issuer, self.clientID, self.secret, self.roles) = (issuer, clientID, secret, roles)
    }

    static func read(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> OpenIDSettings? {
        guard let node, let fields = Fields(node, Keys.openID, of: "`openid`", &diagnostics) else { return nil }
        for key in ["issuer", "client-id"] where fields[key] == nil {
            diagnostics.error(
                "`openid` needs `\(key)`: `openid: { issuer: https://id.acme.example, client-id: martlet, secret: openid }`",
                at: fields.position(of: key))
        }
        let issuer = issuer(fields["issuer"], &diagnostics)
        let client = diagnostics.line(fields["client-id"], "client-id")
        let secret = diagnostics.secretName(fields["secret"], "secret")
        let roles = RoleRules.read(fields["roles"], of: "`openid`", at: fields.position, &diagnostics)
        guard let issuer, let client, let roles else { return nil }
        return OpenIDSettings(issuer: issuer, clientID: client, secret: secret, roles: roles)
    }

    private static func issuer(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> String? {
        guard let node, let text = diagnostics.line(node, "issuer") else { return nil }
        let isPlain = text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"?#\"<>\\@".utf8.contains($0) }
        guard let parts = AddressText.parts(of: text), isPlain, text.utf8.count <= 300, !parts.host.isEmpty,
            parts.scheme == "https" || parts.scheme == "http" && Self.isLoopback(parts.host)
        else {
            diagnostics.error(
                "`issuer` is the provider's https address, such as https://id.acme.example, not "
                    + Printable.quoted(AddressText.withoutPassword(text)), at: node.position)
            return nil
        }
        return text
    }

    /// Returns whether a host, with or without a port, is this machine.
    private static func isLoopback(_ host: String) -> Bool {
        guard let address = ListenAddress(host) ?? ListenAddress(host + ":0") else { return false }
        return address.host == "localhost" || IPAddress(address.host)?.isLoopback == true
    }
}

/// The header in which a trusted reverse proxy names the person whom it has signed in.
package struct HeaderSettings: Hashable, Sendable {
    /// The most addresses of proxies.
    static let maximumAddresses = 16

    /// The header's name. The proxy must set or remove it in every request.
    package var name: String
    /// The IP addresses from which the header is believed.
    package var from: [String]
    package var roles: RoleRules

    package init(name: String, from: [String], roles: RoleRules) {
        (self.name, self.from, self.roles) = (name, from, roles)
    }

    /// Headers that mean something else, in lower case.
    private static let taken: Set<String> = [
        "authorization", "connection", "content-length", "content-type", "cookie", "forwarded", "host", "origin",
        "referer", "transfer-encoding", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto",
    ]

    static func read(_ fields: Fields, _ diagnostics: inout Diagnostics) -> HeaderSettings? {
        guard let node = fields["header"] else {
            for key in ["from", "roles"] where fields[key] != nil {
                diagnostics.error("`\(key)` belongs to `header`, which is missing", at: fields.position(of: key))
            }
            return nil
        }
        let name = name(node, &diagnostics)
        let from = addresses(fields["from"], &diagnostics)
        if fields["from"] == nil {
            diagnostics.error(
                "`header` needs `from`, the addresses of the proxies that may name a person: `from: [127.0.0.1]`",
                at: node.position)
        }
        // Whom the proxy lets through may look.
        let roles =
            fields["roles"] == nil
            ? RoleRules([.viewer: ["*"]])
            : RoleRules.read(fields["roles"], of: "`sign-in` with `header`", at: node.position, &diagnostics)
        guard let name, let roles, !from.isEmpty else { return nil }
        return HeaderSettings(name: name, from: from, roles: roles)
    }

    private static func name(_ node: YAMLNode, _ diagnostics: inout Diagnostics) -> String? {
        guard let text = diagnostics.line(node, "header") else { return nil }
        let isToken = text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || byte == UInt8(ascii: "-")
        }
        guard isToken, (1...64).contains(text.utf8.count), !taken.contains(text.lowercased()) else {
            diagnostics.error(
                "`header` is a header of the proxy's own, such as X-Remote-User, not \(Printable.quoted(text))",
                at: node.position)
            return nil
        }
        return text
    }

    private static func addresses(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> [String] {
        guard let node, let items = diagnostics.items(node, "from") else { return [] }
        if items.isEmpty || items.count > maximumAddresses {
            diagnostics.error("`from` has 1 to \(maximumAddresses) addresses", at: node.position)
        }
        return items.compactMap { item in
            guard let text = diagnostics.line(item, "from") else { return nil }
            guard IPAddress(text) != nil else {
                diagnostics.error(
                    "`from` are the IP addresses from which proxies connect, such as 127.0.0.1, not "
                        + Printable.quoted(text), at: item.position)
                return nil
            }
            return text
        }
    }
}
