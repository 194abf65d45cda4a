import ArgumentParser
import Model

/// `kit#41`, or `kit` for the latest.
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

    /// The path of the interface.
    var path: String { "/api/v1/bots/\(bot)/integrations/\(number)" }
}
