package import Model

/// The roles that people get, by what is known of them:
/// `roles: { admin: [ci-admins], operator: [{ who: tools-team, bots: ["tools-*"] }], viewer: ["@acme.example"] }`.
package struct RoleRules: Hashable, Sendable {
    /// The most entries of one role.
    static let maximumEntries = 64

    /// A role, the people who have it, and the bots that it is limited to.
    package struct Rule: Hashable, Sendable {
        package var role: Role
        /// The entries: a group or a name, `person@acme.example`, `@acme.example` for every address of a domain, or `*` for everybody.
        package var who: [String]
        /// The bots; `nil`: every bot, and the service as a whole.
        package var bots: BotScope?

        package init(_ role: Role, _ who: [String], on bots: BotScope? = nil) {
            (self.role, self.who, self.bots) = (role, who, bots)
        }

        /// Returns whether a person is one of these.
        fileprivate func isAbout(names: [String], mail: String?, domain: String?) -> Bool {
            who.contains { entry in
                if entry == "*" { return true }
                guard entry.contains("@") else { return names.contains(entry) }
                return entry.lowercased() == mail || entry.hasPrefix("@") && entry.lowercased() == domain
            }
        }
    }

    /// The rules, which hold independently of each other.
    package var rules: [Rule]

    package init(_ rules: [Rule]) { self.rules = rules }

    /// Creates rules whose roles are not limited to bots.
    package init(_ entries: [Role: [String]]) {
        rules = Role.allCases.compactMap { role in entries[role].map { Rule(role, $0) } }
    }

    /// Returns the rights of a person: the role of each rule that is about the person, on the bots of that rule.
    /// - Parameters:
    ///   - names: The names that entries without `@` are compared with: the person's groups, or the name that a proxy states.
    ///   - mail: The person's mail address, which somebody trusted has verified; `nil` if there is none.
    /// - Returns: Rights without any role if no rule is about the person.
    package func rights(names: [String], mail: String?) -> Rights {
        let mail = mail?.lowercased()
        let domain = mail.flatMap { mail in mail.lastIndex(of: "@").map { String(mail[$0...]) } }
        let matching = rules.filter { $0.isAbout(names: names, mail: mail, domain: domain) }
        return Rights(matching.map { Rights.Grant($0.role, on: $0.bots) })
    }

    static func read(
        _ node: YAMLNode?, of place: String, at position: Position, _ diagnostics: inout Diagnostics
    ) -> RoleRules? {
        guard let node else {
            diagnostics.error(
                "\(place) needs `roles`, or nobody could do anything: `roles: { admin: [ci-admins], viewer: [\"@acme.example\"] }`",
                at: position)
            return nil
        }
        guard let fields = Fields(node, Keys.roles, of: "`roles`", &diagnostics) else { return nil }
        var rules: [Rule] = []
        var written = 0
        for role in Role.allCases {
            guard let node = fields[role.rawValue], let items = items(node, role, &diagnostics) else { continue }
            written += items.count
            let people = items.filter { !$0.isMapping }.compactMap { diagnostics.line($0, role.rawValue) }
            var own = people.isEmpty ? [] : [Rule(role, people)]
            own += items.filter(\.isMapping).compactMap { rule(role, $0, &diagnostics) }
            if own.reduce(0, { $0 + $1.who.count }) > maximumEntries {
                diagnostics.error("`\(role.rawValue)` has at most \(maximumEntries) entries", at: node.position)
            }
            rules += own
        }
        if written == 0, !fields.hasRefused {
            diagnostics.error("`roles` gives nobody a role; add viewer, operator or admin", at: node.position)
        }
        return RoleRules(rules)
    }

    /// Returns the entries of a role: one text, one mapping, or a list of both.
    private static func items(_ node: YAMLNode, _ role: Role, _ diagnostics: inout Diagnostics) -> [YAMLNode]? {
        node.isMapping ? [node] : diagnostics.items(node, role.rawValue)
    }

    /// Reads `{ who: tools-team, bots: ["tools-*"] }`.
    private static func rule(_ role: Role, _ node: YAMLNode, _ diagnostics: inout Diagnostics) -> Rule? {
        guard let fields = Fields(node, Keys.roleRule, of: "`\(role.rawValue)`", &diagnostics) else { return nil }
        let who = diagnostics.texts(fields["who"], "who") ?? []
        if who.isEmpty, !fields.hasRefused {
            diagnostics.error(
                "a rule of `\(role.rawValue)` needs `who`: `{ who: tools-team, bots: [\"tools-*\"] }`",
                at: node.position)
        }
        guard let list = fields["bots"] else { return fields.hasRefused ? nil : Rule(role, who) }
        guard let texts = diagnostics.texts(list, "bots") else { return nil }
        guard let bots = BotScope(texts) else {
            diagnostics.error("`bots` is no list of bots: \(BotScope.problem(with: texts) ?? "")", at: list.position)
            return nil
        }
        return Rule(role, who, on: bots)
    }
}

extension YAMLNode {
    fileprivate var isMapping: Bool {
        if case .mapping = content { true } else { false }
    }
}
