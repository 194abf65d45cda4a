package import Forges
package import Model

/// The bots that name one webhook secret.
struct WebhookBots: Sendable {
    /// The secret's name, never its value.
    let secret: String
    var bots: [BotSpecification]
}

extension BotRegistry {
    /// The most secrets that are tried for one delivery to a hook that bots share. Each costs an HMAC of the body, before the sender is known.
    static let maximumSharedSecrets = 64

    /// Returns the bots that a delivery may be for, grouped by secret. Empty if the bot is unknown or names no secret.
    /// - Parameter bot: If given, only that bot. If `nil`, every bot whose repository is not at a public host of another forge, up to
    ///   `maximumSharedSecrets` secrets, in order of the bots' names. Bots beyond that have their own URLs.
    func hooks(of forge: Forge, bot: Name?) -> [WebhookBots] {
        guard bot == nil else {
            guard let bot = bot.flatMap({ bots[$0] }), let secret = bot.webhookSecret else { return [] }
            return [WebhookBots(secret: secret, bots: [bot])]
        }
        var hooks: [WebhookBots] = []
        for bot in all() {
            guard let secret = bot.webhookSecret, canBe(bot, of: forge) else { continue }
            if let index = hooks.firstIndex(where: { $0.secret == secret }) {
                hooks[index].bots.append(bot)
            } else if hooks.count < Self.maximumSharedSecrets {
                hooks.append(WebhookBots(secret: secret, bots: [bot]))
            }
        }
        return hooks
    }

    private func canBe(_ bot: BotSpecification, of forge: Forge) -> Bool {
        guard let key = NamedRepository.key(of: bot.repository),
            let owner = Forge.of(host: String(key.prefix { $0 != "/" }))
        else { return true }
        return owner == forge
    }

    /// Returns how to connect the repository's host, word for word. It contains the URL and the name of the secret, but never the secret's value.
    /// - Throws: `.notFound`; `.invalid` if the bot names no webhook secret.
    package func webhookInstructions(_ name: Name, forge: Forge) throws(OperationError) -> String {
        let bot = try known(name)
        guard let secret = bot.webhookSecret else {
            throw OperationError(
                .invalid,
                "the bot \(name) names no webhook secret: add `webhook: { secret: \(name)-webhook }` to its file and set it "
                    + "with `martlet secret set \(name)-webhook`")
        }
        return forge.instructions(url: "\(serviceURL)/webhooks/\(forge)/\(name)", secret: secret)
    }
}
