package import Model

/// Who hears of troubles of the service: `operator` of the settings.
package struct OperatorSettings: Hashable, Sendable {
    /// The recipients of mails, at most `maximumRecipients`. They need `mail` of the settings.
    package var mail: [MailAddress]
    /// The URL that gets a signed request; `nil` if there is none.
    package var webhook: String?
    /// The name of the secret that signs the requests; `nil` without `webhook`.
    package var secret: String?
    /// Whether `webhook` is plain http to another machine.
    package var isInsecure: Bool

    /// The most recipients.
    package static let maximumRecipients = 10

    package init(
        mail: [MailAddress] = [], webhook: String? = nil, secret: String? = nil, isInsecure: Bool = false
    ) {
        (self.mail, self.webhook, self.secret, self.isInsecure) = (mail, webhook, secret, isInsecure)
    }

    static func read(_ node: YAMLNode?, hasMail: Bool, _ diagnostics: inout Diagnostics) -> OperatorSettings? {
        guard let node, let fields = Fields(node, Keys.operator, of: "`operator`", &diagnostics) else { return nil }
        var settings = OperatorSettings()
        settings.mail = recipients(fields["mail"], &diagnostics)
        if !settings.mail.isEmpty, !hasMail {
            diagnostics.error(
                "mails to the operator need a server: `mail: { server: smtps://mail.acme.example:465, from: ci@acme.example }`",
                at: fields.position(of: "mail"))
        }
        settings.isInsecure = diagnostics.truth(fields["insecure"], "insecure") ?? false
        settings.secret = diagnostics.secretName(fields["secret"], "secret")
        if let webhook = fields["webhook"] {
            settings.webhook = url(webhook, isInsecure: settings.isInsecure, &diagnostics)
            if settings.secret == nil {
                diagnostics.error(
                    "`webhook` needs the name of a secret that it is signed with: `secret: NAME`; store one with "
                        + "`echo whsec_$(openssl rand -base64 32) | martlet secret set NAME`", at: webhook.position)
            }
        }
        if settings.mail.isEmpty, settings.webhook == nil, !diagnostics.hasErrors {
            diagnostics.error(
                "`operator` names nobody: `operator: { mail: ops@acme.example }`, or a `webhook` with its `secret`",
                at: fields.position)
        }
        return settings
    }

    private static func recipients(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> [MailAddress] {
        guard let node, let items = diagnostics.items(node, "mail") else { return [] }
        if items.count > maximumRecipients {
            diagnostics.error(
                "`mail` of `operator` has at most \(maximumRecipients) addresses; make a mailing list of them",
                at: node.position)
        }
        return items.prefix(maximumRecipients).compactMap { item in
            guard let text = diagnostics.line(item, "mail") else { return nil }
            guard let address = MailAddress(text) else {
                diagnostics.error(
                    "\(Printable.quoted(text)) is not a mail address; write ops@acme.example", at: item.position)
                return nil
            }
            return address
        }
    }

    private static func url(_ node: YAMLNode, isInsecure: Bool, _ diagnostics: inout Diagnostics) -> String? {
        guard let text = diagnostics.line(node, "webhook") else { return nil }
        guard let parts = AddressText.parts(of: text), ["http", "https"].contains(parts.scheme), !parts.host.isEmpty,
            !parts.hasPassword, text.utf8.count <= AddressText.maximumLength,
            !text.contains(where: { $0.isWhitespace || $0 == "#" || $0 == "@" })
        else {
            diagnostics.error(
                "`webhook` is a URL such as https://chat.acme.example/hooks/1, not "
                    + Printable.quoted(AddressText.withoutPassword(text)), at: node.position)
            return nil
        }
        if parts.scheme == "http", !isInsecure {
            diagnostics.error(
                "the troubles of the service would be readable on the way; write https://, or `insecure: true`",
                at: node.position)
        }
        return text
    }
}
