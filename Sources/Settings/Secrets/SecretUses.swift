package import Model

/// A secret that the settings or bot files name, with those that name it.
package struct SecretUse: Hashable, Sendable {
    /// The secret's name.
    package var name: String
    /// The users in words, such as `the bot kit` and `signing of the settings`, in their order.
    package var users: [String]
    /// The bots among the users.
    package var bots: [Name]
    /// The uses in words, such as `the webhook of kit`, in their order. A bot may have several.
    package var places: [String]
    /// Whether webhooks are signed with it, so that a rotation can have an overlap.
    package var isOfWebhook: Bool

    /// Returns the secrets that the settings and bot files name, in the order of their first use.
    package static func all(of settings: ServiceSettings, _ bots: [BotSpecification]) -> [SecretUse] {
        var uses = SecretUses()
        func add(_ name: String?, _ key: String, isOfWebhook: Bool = false) {
            guard let name else { return }
            let user = "`\(key)` of the settings"
            uses.add(name, user: user, place: user, isOfWebhook: isOfWebhook)
        }
        add(settings.signing, "signing")
        add(settings.signIn.openID?.secret, "sign-in")
        add(settings.mail?.credentials, "mail")
        add(settings.traces?.authorization, "traces")
        add(settings.operators?.secret, "operator", isOfWebhook: true)
        for bot in bots {
            for (name, what, isOfWebhook) in names(in: bot) {
                uses.add(
                    name, user: "the bot \(bot.name)", place: "\(what) of \(bot.name)", bot: bot.name,
                    isOfWebhook: isOfWebhook)
            }
        }
        return uses.all
    }

    /// Returns the secrets that open the hosts of the bots' repositories (`git-HOST`, `git-HOST-known-hosts`). Neither has to exist.
    package static func ofHosts(_ bots: [BotSpecification]) -> [SecretUse] {
        var uses = SecretUses()
        for bot in bots {
            guard let address = PublicAddress.of(bot.repository), let scheme = address.firstRange(of: "://") else {
                continue
            }
            var host = address[scheme.upperBound...].prefix { $0 != "/" }
            if let user = host.lastIndex(of: "@") { host = host[host.index(after: user)...] }
            if let port = host.lastIndex(of: ":"), !host.hasSuffix("]") { host = host[..<port] }
            for name in ["git-\(host)", "git-\(host)-known-hosts"] where SecretStore.isName(name) {
                uses.add(name, user: "the bot \(bot.name)", place: "the repository of \(bot.name)", bot: bot.name)
            }
        }
        return uses.all
    }

    /// Returns the names of secrets in a bot file, each with its place in words and whether webhooks are signed with it.
    private static func names(in bot: BotSpecification) -> [(name: String, place: String, isOfWebhook: Bool)] {
        var names: [(name: String, place: String, isOfWebhook: Bool)] = []
        if let name = bot.webhookSecret { names.append((name, "the webhook", true)) }
        if let name = bot.status?.credentials { names.append((name, "commit statuses", false)) }
        for trigger in bot.triggers {
            names += trigger.secrets.map { ($0, "the trigger \(trigger.name)", false) }
            if case .upload(_, let credentials?) = trigger.action {
                names.append((credentials, "the trigger \(trigger.name)", false))
            }
        }
        for notice in bot.notices ?? [] {
            if case .webhook(_, let secret) = notice.target {
                names.append((secret, "the notice \(notice.name)", true))
            }
        }
        return names + (bot.jobSecrets ?? []).map { ($0.name, "jobs", false) }
    }
}

/// A list of uses, in the order in which secrets are first added.
private struct SecretUses {
    private(set) var all: [SecretUse] = []
    private var indices: [String: Int] = [:]

    mutating func add(
        _ name: String, user: String, place: String, bot: Name? = nil, isOfWebhook: Bool = false
    ) {
        let index = indices[name] ?? all.count
        if index == all.count {
            indices[name] = index
            all.append(SecretUse(name: name, users: [], bots: [], places: [], isOfWebhook: false))
        }
        if !all[index].users.contains(user) { all[index].users.append(user) }
        if !all[index].places.contains(place) { all[index].places.append(place) }
        if let bot, !all[index].bots.contains(bot) { all[index].bots.append(bot) }
        if isOfWebhook { all[index].isOfWebhook = true }
    }
}

/// A secret that is named and cannot be used.
package struct MissingSecret: Hashable, Sendable {
    package var use: SecretUse
    /// What is wrong: `kit-webhook is missing, which the bot kit needs`.
    package var reason: String
    /// What to do; `nil` if the reason says it, as with a file that cannot be read.
    package var remedy: String?

    /// What is wrong, and what to do.
    package var sentence: String { remedy.map { "\(reason); \($0)" } ?? reason }

    /// Returns the missing secrets in the order of their uses. It reads each file, so it blocks.
    package static func find(_ uses: [SecretUse], in store: SecretStore) -> [MissingSecret] {
        uses.compactMap { use in
            do throws(SettingsError) {
                guard try store.value(use.name) == nil else { return nil }
                return MissingSecret(
                    use: use, reason: "\(use.name) is missing, which \(use.users[0]) needs",
                    remedy: "store it with `martlet secret set \(use.name)`")
            } catch {
                return MissingSecret(use: use, reason: "\(error)", remedy: nil)
            }
        }
    }
}
