import Model

/// A path of a page, a badge or the HTTP interface that names a bot, which may have another name now.
struct FormerBotPath: Equatable {
    let bot: Name
    private let before: String
    private let after: String

    /// - Returns: `nil` for a path that names no bot.
    init?(_ path: String) {
        for prefix in ["/bots/", "/badge/", "/api/v1/bots/"] where path.hasPrefix(prefix) {
            let rest = path.dropFirst(prefix.count)
            var name = rest.prefix { $0 != "/" }
            if prefix == "/badge/" {
                guard let kind = [".svg", ".json"].first(where: { name.hasSuffix($0) }) else { return nil }
                name = name.dropLast(kind.count)
            }
            guard let bot = Name(String(name)) else { return nil }
            (self.bot, before, after) = (bot, prefix, String(rest.dropFirst(name.count)))
            return
        }
        return nil
    }

    /// Returns the same path with another bot's name.
    func path(of name: Name) -> String { "\(before)\(name)\(after)" }
}
