import Model

/// The assignment of the registry's packages to the bots that publish them: a package belongs to one product.
///
/// A bot keeps the packages that it already has, regardless of the names of new files. Otherwise a copy of a bot file whose name sorts earlier would
/// keep the owner's changes from being applied. Among new bots the first by name gets the package.
struct PackageClaims {
    /// The bot that owns each package.
    private var owners: [PackageIdentifier: BotSpecification] = [:]

    /// Records the packages that a bot has by its last valid specification and keeps. Call it first for all bots, in order of name.
    /// - Parameters:
    ///   - bot: The current specification; `nil` if the file is invalid, so that the last valid one is used.
    ///   - lastGood: The last valid specification before this scan.
    mutating func hold(_ bot: BotSpecification?, lastGood: BotSpecification?) {
        guard let lastGood else { return }
        // A package that moves to another product must become free first.
        if let bot, bot.product != lastGood.product { return }
        let wanted = bot.map { Set($0.packages) }
        for package in lastGood.packages where wanted?.contains(package) ?? true { take(package, lastGood) }
    }

    /// Records the packages of a bot's current specification, all of them or none. Call it afterwards for all bots, in order of name.
    /// - Returns: Why the bot cannot publish its packages; `nil` if it can.
    mutating func claim(_ bot: BotSpecification?, lastGood: BotSpecification?) -> String? {
        guard let bot else { return nil }
        for package in bot.packages {
            guard let other = owners[package], other.product != bot.product else { continue }
            // The bot continues with its last valid specification and those packages.
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
