import Model

/// A reader of a bot file's `notify`: the recipients of notices when a branch breaks, is fixed, gets a new issue, or is released.
enum NoticeReader {
    /// The most notices of one bot.
    static let maximumNotices = 16
    /// The transitions if `when` is not written: all.
    private static let words = Transition.allCases

    static func notices(
        _ node: YAMLNode?, isInsecure: Bool, watchesTags: Bool, _ diagnostics: inout Diagnostics
    ) -> [Notice]? {
        guard let items = diagnostics.items(node, "notify", allowsOne: false) else { return nil }
        if items.count > maximumNotices {
            diagnostics.error("`notify` has more than \(maximumNotices) items", at: items[maximumNotices].position)
            return nil
        }
        var notices: [Notice] = []
        var places: [Name: Position] = [:]
        for item in items {
            guard let notice = notice(item, isInsecure: isInsecure, watchesTags: watchesTags, &diagnostics) else {
                continue
            }
            if let first = places[notice.name] {
                diagnostics.error(
                    "an item of `notify` named `\(notice.name)` is there already, in line \(first.line)",
                    at: item.position)
            }
            places[notice.name] = item.position
            notices.append(notice)
        }
        return notices
    }

    private static func notice(
        _ node: YAMLNode, isInsecure: Bool, watchesTags: Bool, _ diagnostics: inout Diagnostics
    ) -> Notice? {
        guard let fields = Fields(node, Keys.notice, of: "an item of `notify`", &diagnostics) else { return nil }
        let name = diagnostics.name(fields["name"], "name")
        if fields["name"] == nil { diagnostics.error("the item of `notify` has no `name`", at: fields.position) }
        let branches = diagnostics.patterns(fields["branches"], "branches")
        let tags = diagnostics.patterns(fields["tags"], "tags")
        if !watchesTags, let tags, !tags.isEmpty {
            diagnostics.warning(
                "the bot watches no tags, so `tags` here matches none; add `tags` at the top of the file too",
                at: fields.position(of: "tags"))
        }
        let when = transitions(fields["when"], &diagnostics)
        guard let target = target(fields, isInsecure: isInsecure, &diagnostics), let name else { return nil }
        return Notice(name: name, branches: branches, tags: tags, when: when ?? words, target: target)
    }

    private static func transitions(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> [Transition]? {
        guard let node, let items = diagnostics.items(node, "when") else { return nil }
        if items.isEmpty {
            diagnostics.error(
                "`when` is empty, so nobody would ever be told; remove it or write one of "
                    + words.map { "`\($0.rawValue)`" }.joined(separator: ", "), at: node.position)
        }
        let written: [Transition] = items.compactMap { diagnostics.word($0, "when") }
        // The order is that of their importance, each once.
        return words.filter(written.contains)
    }

    private static func target(
        _ fields: Fields, isInsecure: Bool, _ diagnostics: inout Diagnostics
    ) -> Notice.Target? {
        let isMail = fields.written("mail") != nil || fields.written("authors") != nil
        let isWebhook = fields.written("webhook") != nil
        guard isMail != isWebhook else {
            diagnostics.error(
                isMail
                    ? "the item of `notify` has both mail and `webhook`; make one item of each"
                    : "the item of `notify` has no recipient; it needs `mail`, `authors` or `webhook`",
                at: isMail ? fields.position(of: "webhook") : fields.position)
            return nil
        }
        if isWebhook { return webhook(fields, isInsecure: isInsecure, &diagnostics) }
        if fields.written("secret") != nil {
            diagnostics.error(
                "`secret` belongs to `webhook`; a mail server's is `credentials` of `mail` in the settings",
                at: fields.position(of: "secret"))
        }
        let addresses = addresses(fields["mail"], &diagnostics)
        let domains = domains(fields["authors"], &diagnostics)
        if addresses.isEmpty, domains.isEmpty {
            if !diagnostics.hasErrors {
                diagnostics.error("`mail` and `authors` have no address; write one", at: fields.position)
            }
            return nil
        }
        return .mail(to: addresses, authorsIn: domains)
    }

    private static func addresses(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> [MailAddress] {
        guard let node, let items = diagnostics.items(node, "mail") else { return [] }
        if items.count > Notice.maximumRecipients {
            diagnostics.error(
                "`mail` has more than \(Notice.maximumRecipients) addresses; make a mailing list of them",
                at: items[Notice.maximumRecipients].position)
            return []
        }
        var addresses: [MailAddress] = []
        for item in items {
            guard let text = diagnostics.line(item, "mail") else { continue }
            if let address = MailAddress(text) {
                addresses.append(address)
            } else {
                diagnostics.error(
                    "\(Printable.quoted(text)) is not a mail address; write team@acme.example or "
                        + "\"The team <team@acme.example>\"", at: item.position)
            }
        }
        return addresses
    }

    private static func domains(_ node: YAMLNode?, _ diagnostics: inout Diagnostics) -> [String] {
        guard let items = diagnostics.items(node, "authors") else { return [] }
        var domains: [String] = []
        for item in items {
            guard let text = diagnostics.line(item, "authors") else { continue }
            if MailAddress.isAddress("somebody@" + text), text.contains(".") {
                domains.append(text.lowercased())
            } else {
                diagnostics.error(
                    "`authors` has the domains whose addresses are told, such as `acme.example`, since anybody can write "
                        + "any address into a commit; not \(Printable.quoted(text))", at: item.position)
            }
        }
        return domains
    }

    private static func webhook(
        _ fields: Fields, isInsecure: Bool, _ diagnostics: inout Diagnostics
    ) -> Notice.Target? {
        guard fields["secret"] != nil else {
            diagnostics.error(
                "`webhook` needs the name of a secret that it is signed with: `secret: NAME`; store one with "
                    + "`echo whsec_$(openssl rand -base64 32) | martlet secret set NAME`", at: fields.position)
            return nil
        }
        let secret = diagnostics.secretName(fields["secret"], "secret")
        guard let node = fields["webhook"], let url = diagnostics.line(node, "webhook") else {
            if fields["webhook"] == nil { diagnostics.error("`webhook` is empty", at: fields.position(of: "webhook")) }
            return nil
        }
        if let problem = problem(with: url, isInsecure: isInsecure) {
            diagnostics.error(problem, at: node.position)
            return nil
        }
        return secret.map { .webhook(url: url, secret: $0) }
    }

    private static func problem(with url: String, isInsecure: Bool) -> String? {
        guard let parts = AddressText.parts(of: url), ["https", "http"].contains(parts.scheme),
            !parts.host.isEmpty, !parts.host.hasPrefix("-"), url.utf8.count <= AddressText.maximumLength,
            url.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return "`webhook` is an address such as https://chat.acme.example/hook" }
        if parts.scheme == "http", !isInsecure {
            return "http:// can be read and changed on its way; use https, or add `insecure: true` at the top"
        }
        if parts.hasPassword { return AddressText.passwordProblem("webhook", "; `secret` signs what is sent") }
        // A webhook's host is stored and shown, including the user before it.
        return parts.hasUser
            ? "`webhook` has a user before its host, which pages and logs would show, and may be a token; write what lets one in "
                + "into the path or the query, which they do not show" : nil
    }
}
