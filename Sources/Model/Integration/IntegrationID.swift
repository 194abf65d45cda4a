/// The name of an integration: its bot and its number within the bot, written `kit#41`.
package struct IntegrationID: Hashable, Sendable, Codable, Comparable, CustomStringConvertible {
    package let bot: Name
    /// Counts from 1 within the bot and is never reused.
    package let number: Int

    package init(bot: Name, number: Int) {
        self.bot = bot
        self.number = number
    }

    /// Parses `kit#41`. A sign and leading zeros are refused, so that an integration has only one name.
    /// - Returns: `nil` if the text is not such a name.
    package init?(_ string: some StringProtocol) {
        let parts = string.split(separator: "#", omittingEmptySubsequences: false)
        guard parts.count == 2, let bot = Name(parts[0]), let number = Int(parts[1]), number > 0,
            parts[1].utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), !parts[1].hasPrefix("0")
        else { return nil }
        self.init(bot: bot, number: number)
    }

    package var description: String { "\(bot)#\(number)" }

    package static func < (left: IntegrationID, right: IntegrationID) -> Bool {
        (left.bot, left.number) < (right.bot, right.number)
    }
}
