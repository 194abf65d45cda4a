import Model
import Settings

/// A secret that the settings or a bot file name, but that is not stored.
struct MissingSecret {
    let secret: String
    let sentence: String
    let remedy: String

    /// Returns the missing secrets of the settings and of bot files, in their order, each once. One that is stored and cannot be read is not missing.
    static func find(
        _ settings: ServiceSettings, _ bots: [BotSpecification], _ store: SecretStore
    ) -> [MissingSecret] {
        var named: [(secret: String, by: String)] = []
        if let signing = settings.signing { named.append((signing, "`signing` of the settings")) }
        if let mail = settings.mail?.credentials { named.append((mail, "`mail` of the settings")) }
        if let traces = settings.traces?.authorization { named.append((traces, "`traces` of the settings")) }
        if let client = settings.signIn.openID?.secret { named.append((client, "`sign-in` of the settings")) }
        for bot in bots { named += names(in: bot).map { ($0, "the bot \(bot.name)") } }
        var seen: Set<String> = []
        return named.compactMap { secret, user in
            guard seen.insert(secret).inserted else { return nil }
            // One that cannot be read is found among the files.
            do throws(SettingsError) {
                guard try store.value(secret) == nil else { return nil }
            } catch {
                return nil
            }
            return MissingSecret(
                secret: secret, sentence: "\(secret) is missing, which \(user) needs",
                remedy: "store it with `martlet secret set \(secret)`")
        }
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
