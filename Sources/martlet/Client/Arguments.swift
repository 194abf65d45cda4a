import ArgumentParser
import Model

/// An argument such as `kit#41`, or `kit` for the latest integration of a branch or tag, or the address of a page of either.
struct IntegrationArgument: ExpressibleByArgument {
    let bot: String
    /// A number, or `latest`.
    let number: String
    /// The address as which it was given; `nil` if it was given by its name.
    let address: PageAddress?

    init?(argument: String) {
        if let id = IntegrationID(argument) {
            (bot, number, address) = (id.bot.description, String(id.number), nil)
        } else if let name = Name(argument) {
            (bot, number, address) = (name.description, "latest", nil)
        } else if let page = PageAddress(argument) {
            (bot, number, address) = (page.bot, page.number.map(String.init) ?? "latest", page)
        } else {
            return nil
        }
    }

    static let defaultCompletionKind = CompletionKind.custom { await Completions.integrations($0, $1, $2) }

    /// The argument as the user writes it.
    var text: String { number == "latest" ? bot : "\(bot)#\(number)" }

    /// The integration's path in the HTTP interface.
    var path: String { "/api/v1/bots/\(bot)/integrations/\(number)" }
}

/// An argument such as `kit`, or the address of one of the bot's pages. Whether there is such a bot is decided by the daemon.
struct BotArgument: ExpressibleByArgument {
    let name: String
    /// The address as which it was given; `nil` if it was given by its name.
    let address: PageAddress?

    init?(argument: String) {
        guard PageAddress.isAddress(argument) else {
            (name, address) = (argument, nil)
            return
        }
        guard let page = PageAddress(argument) else { return nil }
        (name, address) = (page.bot, page)
    }

    static let defaultCompletionKind = CompletionKind.custom { await Completions.bots($0, $1, $2) }
}

/// An argument such as `kit!12`.
struct PullRequestArgument: ExpressibleByArgument {
    let bot: String
    let number: Int

    init?(argument: String) {
        let parts = argument.split(separator: "!", maxSplits: 1)
        guard parts.count == 2, let name = Name(String(parts[0])), let number = Int(parts[1]), number > 0 else {
            return nil
        }
        (bot, self.number) = (name.description, number)
    }

    var text: String { "\(bot)!\(number)" }
}
