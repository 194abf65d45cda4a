package import Model

/// The mail server for notices: `mail` of the settings.
package struct MailSettings: Hashable, Sendable {
    /// `smtps://host:port`, or `smtp://host:port`, which requires STARTTLS unless `isInsecure` is set.
    package var server: String
    package var from: MailAddress
    /// The name of a secret, `user:password`.
    package var credentials: String?
    /// Whether smtp is used without TLS. It is never set with credentials.
    package var isInsecure: Bool
    /// The absolute path of a file of PEM certificates that are trusted instead of the machine's.
    package var certificates: String?

    package init(
        server: String, from: MailAddress, credentials: String? = nil, isInsecure: Bool = false,
        certificates: String? = nil
    ) {
        self.server = server
        self.from = from
        self.credentials = credentials
        self.isInsecure = isInsecure
        self.certificates = certificates
    }

    static func read(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> MailSettings? {
        guard let node, let fields = Fields(node, Keys.mail, of: "`mail`", &diagnostics) else { return nil }
        let credentials = diagnostics.secretName(fields["credentials"], "credentials")
        let isInsecure = diagnostics.truth(fields["insecure"], "insecure") ?? false
        for key in ["server", "from"] where fields[key] == nil {
            diagnostics.error(
                "`mail` needs `\(key)`: `mail: { server: smtps://mail.acme.example:465, from: ci@acme.example }`",
                at: fields.position(of: key))
        }
        let certificates = diagnostics.line(fields["certificates"], "certificates")
        if let certificates, !certificates.hasPrefix("/") || isInsecure {
            diagnostics.error(
                isInsecure
                    ? "without TLS there are no certificates; remove `insecure` or `certificates`"
                    : "`certificates` is the absolute path of a PEM file, not \(Printable.quoted(certificates))",
                at: fields.position(of: "certificates"))
        }
        let server = server(fields["server"], &diagnostics)
        let from = from(fields["from"], &diagnostics)
        guard let server, let from else { return nil }
        if isInsecure, server.hasPrefix("smtps:") {
            diagnostics.error(
                "`insecure` means smtp:// without TLS; smtps:// has it", at: fields.position(of: "insecure"))
        } else if isInsecure, credentials != nil {
            diagnostics.error(
                "without TLS the password would be readable on the way; remove `insecure` or `credentials`",
                at: fields.position(of: "insecure"))
        }
        return MailSettings(
            server: server, from: from, credentials: credentials, isInsecure: isInsecure, certificates: certificates)
    }

    private static func server(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> String? {
        guard let node, var text = diagnostics.line(node, "server") else { return nil }
        while text.hasSuffix("/") { text.removeLast() }
        guard let parts = AddressText.parts(of: text), ["smtps", "smtp"].contains(parts.scheme),
            !parts.host.isEmpty, !parts.host.hasPrefix("-"), parts.path.isEmpty, !text.contains("@"),
            text.utf8.count <= 300, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            diagnostics.error(
                "`server` is smtps://host:465, or smtp://host:587 for STARTTLS, not "
                    + Printable.quoted(AddressText.withoutPassword(text)), at: node.position)
            return nil
        }
        return text
    }

    private static func from(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> MailAddress? {
        guard let node, let text = diagnostics.line(node, "from") else { return nil }
        guard let address = MailAddress(text) else {
            diagnostics.error(
                "`from` is an address such as `Martlet <ci@acme.example>`, not \(Printable.quoted(text))",
                at: node.position)
            return nil
        }
        return address
    }
}
