package import Model

/// A secret that the settings or bot files name, with those that name it.
package struct SecretUse: Hashable, Sendable {
    /// The secret's name.
    package var name: String
    /// The users in words, such as `the bot kit` and `signing of the settings`, in their order.
    package var users: [String]
    /// The bots among the users.
    package var bots: [Name]

    /// Returns the secrets that the settings and bot files name, in the order of their first use.
    package static func all(of settings: ServiceSettings, _ bots: [BotSpecification]) -> [SecretUse] {
        var uses: [SecretUse] = []
        func add(_ name: String?, _ user: String, _ bot: Name? = nil) {
            guard let name else { return }
            guard let index = uses.firstIndex(where: { $0.name == name }) else {
                return uses.append(SecretUse(name: name, users: [user], bots: bot.map { [$0] } ?? []))
            }
            if !uses[index].users.contains(user) { uses[index].users.append(user) }
            if let bot, !uses[index].bots.contains(bot) { uses[index].bots.append(bot) }
        }
        add(settings.signing, "`signing` of the settings")
        add(settings.signIn.openID?.secret, "`sign-in` of the settings")
        add(settings.mail?.credentials, "`mail` of the settings")
        add(settings.traces?.authorization, "`traces` of the settings")
        add(settings.operators?.secret, "`operator` of the settings")
        for bot in bots {
            for name in names(in: bot) { add(name, "the bot \(bot.name)", bot.name) }
        }
        return uses
    }

    private static func names(in bot: BotSpecification) -> [String] {
        var names = [bot.webhookSecret, bot.status?.credentials].compactMap(\.self)
        for trigger in bot.triggers {
            names += trigger.secrets
            if case .upload(_, let credentials?) = trigger.action { names.append(credentials) }
        }
        for notice in bot.notices ?? [] {
            if case .webhook(_, let secret) = notice.target { names.append(secret) }
        }
        return names + (bot.jobSecrets ?? []).map(\.name)
    }
}

/// A secret that is named and cannot be used.
package struct MissingSecret: Hashable, Sendable {
    package var use: SecretUse
    /// What is wrong, and what to do.
    package var sentence: String

    /// Returns the missing secrets in the order of their uses. It reads each file, so it blocks.
    package static func find(_ uses: [SecretUse], in store: SecretStore) -> [MissingSecret] {
        uses.compactMap { use in
            do throws(SettingsError) {
                guard try store.value(use.name) == nil else { return nil }
                return MissingSecret(
                    use: use,
                    sentence:
                        "\(use.name) is missing, which \(use.users[0]) needs; store it with `martlet secret set \(use.name)`"
                )
            } catch {
                return MissingSecret(use: use, sentence: "\(error)")
            }
        }
    }
}
