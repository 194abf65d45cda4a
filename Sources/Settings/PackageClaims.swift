import Model

/// Which bot publishes which package of the registry: a package belongs to one product.
///
/// Who has it already keeps it, whatever a new file is called: else a copy of a bot file, with a name that sorts before, would stop the
/// owner's changes from being taken up. Among new ones the first by name gets it.
struct PackageClaims {
    /// The bot that has each.
    private var owners: [PackageIdentifier: BotSpecification] = [:]

    /// Notes what a bot has by its last good form and does not give up: first for all bots, in order of name.
    /// - Parameters:
    ///   - bot: As its file says now; nothing where that is invalid, so that the last good form goes on.
    ///   - lastGood: As before this look.
    mutating func hold(_ bot: BotSpecification?, lastGood: BotSpecification?) {
        guard let lastGood else { return }
        // One that becomes another product's has to be free again.
        if let bot, bot.product != lastGood.product { return }
        let wanted = bot.map { Set($0.packages) }
        for package in lastGood.packages where wanted?.contains(package) ?? true { take(package, lastGood) }
    }

    /// Takes a bot's packages, all of them or none: then for all bots, in order of name.
    /// - Returns: Why it cannot publish what it says; nothing where it can.
    mutating func claim(_ bot: BotSpecification?, lastGood: BotSpecification?) -> String? {
        guard let bot else { return nil }
        for package in bot.packages {
            guard let other = owners[package], other.product != bot.product else { continue }
            // It goes on as it was, with what it had.
            for package in lastGood?.packages ?? [] { take(package, lastGood) }
            return
                "the package `\(package)` is published by the bot `\(other.name)` as the product `\(other.product)`, and "
                + "here as `\(bot.product)`; a package belongs to one product: give `registry:` another name, or both "
                + "the same `product:`"
        }
        for package in bot.packages { take(package, bot) }
        return nil
    }

    private mutating func take(_ package: PackageIdentifier, _ bot: BotSpecification?) {
        if owners[package] == nil { owners[package] = bot }
    }
}

extension BotSpecification {
    fileprivate var packages: [PackageIdentifier] { triggers.compactMap(\.registry) }
}
