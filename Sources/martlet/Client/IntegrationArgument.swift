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
