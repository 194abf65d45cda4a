import ArgumentParser
import Model

/// An argument such as `kit#41`, or `kit` for the latest integration of a branch or tag.
struct IntegrationArgument: ExpressibleByArgument {
    let bot: String
    /// A number, or `latest`.
    let number: String

    init?(argument: String) {
        if let id = IntegrationID(argument) {
            (bot, number) = (id.bot.description, String(id.number))
        } else if let name = Name(argument) {
            (bot, number) = (name.description, "latest")
        } else {
            return nil
        }
    }

    /// The argument as the user writes it.
    var text: String { number == "latest" ? bot : "\(bot)#\(number)" }

    /// The integration's path in the HTTP interface.
    var path: String { "/api/v1/bots/\(bot)/integrations/\(number)" }
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
