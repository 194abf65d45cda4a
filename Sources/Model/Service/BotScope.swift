/// The bots that a role is limited to: names and patterns of names, such as `kit` and `tools-*`.
package struct BotScope: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The most patterns of one scope.
    package static let maximumPatterns = 64

    /// The patterns, in the order in which they were written.
    package let patterns: [RefPattern]

    /// Creates a scope from names and patterns.
    /// - Returns: `nil` if `problem(with:)` has a reason against the list.
    package init?(_ texts: [String]) {
        guard Self.problem(with: texts) == nil else { return nil }
        patterns = texts.map { RefPattern($0) }
    }

    private init(patterns: [RefPattern]) { self.patterns = patterns }

    /// Returns why a list is not a scope, as the end of a sentence; `nil` if it is one.
    package static func problem(with texts: [String]) -> String? {
        if texts.isEmpty { return "it is empty, so the role would hold for no bot" }
        if texts.count > maximumPatterns { return "it has more than \(maximumPatterns) names and patterns" }
        for text in texts {
            if text.isEmpty { return "a name in it is empty" }
            if text.utf8.count > Name.maximumLength {
                return "\(text.prefix(20))… is longer than \(Name.maximumLength) characters, as no bot's name is"
            }
            let isPlain = text.utf8.allSatisfy { byte in
                (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || "._-*?".utf8.contains(byte)
            }
            guard isPlain else {
                return "a bot's name has a–z, 0–9, `.`, `_` and `-`, and a pattern also `*` and `?`, but nothing else"
            }
        }
        return nil
    }

    /// Returns whether a bot is among these.
    package func covers(_ bot: Name) -> Bool { patterns.contains { $0.matches(bot.description) } }

    /// Returns the bots of both scopes.
    package func union(_ other: BotScope) -> BotScope {
        BotScope(patterns: patterns + other.patterns.filter { !patterns.contains($0) })
    }

    /// The patterns with commas between them.
    package var description: String { texts.joined(separator: ", ") }
    /// The patterns as they were written.
    package var texts: [String] { patterns.map(\.description) }
}

/// What a caller may do: the roles that it has, each everywhere or on some bots.
package struct Rights: Hashable, Sendable {
    /// A role, and the bots that it is limited to.
    package struct Grant: Hashable, Sendable {
        /// The role.
        package let role: Role
        /// The bots; `nil`: every bot, and the service as a whole.
        package let bots: BotScope?

        /// Creates a grant.
        package init(_ role: Role, on bots: BotScope?) { (self.role, self.bots) = (role, bots) }
    }

    /// The roles. A caller without any is anonymous.
    package let grants: [Grant]

    /// Creates rights from roles that are given independently of each other.
    package init(_ grants: [Grant]) { self.grants = grants }

    /// Creates the rights of one role; those of an anonymous caller from `nil`.
    package init(_ role: Role?, on bots: BotScope? = nil) {
        grants = role.map { [Grant($0, on: bots)] } ?? []
    }

    /// No rights, which an anonymous caller has.
    package static let anonymous = Rights([])

    /// Whether there is no role.
    package var isEmpty: Bool { grants.isEmpty }

    /// The role on the service as a whole and on every bot; `nil` if every role is limited to bots, or there is none.
    package var role: Role? { grants.filter { $0.bots == nil }.map(\.role).max() }

    /// The highest role on any bot; `nil` without any role.
    package var highest: Role? { grants.map(\.role).max() }

    /// The bots that all roles together are limited to; `nil` if one of them is not limited, or there is none.
    package var scope: BotScope? {
        guard role == nil, let first = grants.first?.bots else { return nil }
        return grants.dropFirst().compactMap(\.bots).reduce(first) { $0.union($1) }
    }

    /// The roles in words, such as `viewer; operator on kit, tools-*`; empty without any. A role that a higher one contains is left out.
    package var words: String {
        let limited = grants.compactMap { grant in
            grant.bots.flatMap { bots in
                role.map { $0 >= grant.role } ?? false ? nil : "\(grant.role.rawValue) on \(bots)"
            }
        }
        return ([role?.rawValue].compactMap(\.self) + limited).joined(separator: "; ")
    }

    /// Returns the role on a bot; `nil` without any.
    package func role(on bot: Name) -> Role? {
        grants.filter { $0.bots?.covers(bot) ?? true }.map(\.role).max()
    }

    /// Returns the role on what several bots have in common: the lowest of the roles on each of them. Without a bot it is the role on the service.
    package func role(on bots: [Name]) -> Role? {
        let roles = bots.map { role(on: $0) }
        guard !roles.isEmpty, !roles.contains(nil) else { return role }
        return roles.compactMap(\.self).min()
    }
}
