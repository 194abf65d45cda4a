/// An integration's name: its bot and its number there, written `kit#41`.
package struct IntegrationID: Hashable, Sendable, Codable, Comparable, CustomStringConvertible {
    package let bot: Name
    /// Counts from 1 within the bot and is never used again.
    package let number: Int

    package init(bot: Name, number: Int) {
        self.bot = bot
        self.number = number
    }

    /// Parses `kit#41`; a sign or leading zeros are refused, so that one integration has one name.
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
