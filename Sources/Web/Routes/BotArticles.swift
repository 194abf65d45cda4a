import Model
import Storage
import Synchronization

/// A cache of the bots' rows on the overview. Rendering rows takes longer than reading their data, and only a few of a thousand bots change between
/// two requests.
final class BotArticles: Sendable {
    /// Everything that a bot's rows show.
    struct Content: Hashable {
        let bot: BotOverview
        /// Whether the page is filtered.
        let isWhole: Bool
        /// The age of each branch's result in words. It changes with time alone.
        let ages: [String]

        /// The bot's own pause in words; `nil` if it is not paused.
        let pause: String?

        init(_ bot: BotOverview, isWhole: Bool = false, pause: Pause? = nil, at now: Timestamp) {
            self.bot = bot
            self.isWhole = isWhole
            self.pause = pause?.sentence
            ages = bot.branches.map { PageText.age(($0.last ?? $0.current).queuedAt, now: now) }
        }
    }

    private let known = Mutex<[Name: (content: Content, html: String)]>([:])

    /// Returns the rows of these bots, concatenated, and drops the cached rows of all other bots.
    /// - Parameters:
    ///   - isFiltered: Whether these are only some of the bots, or of their branches. The cache stays as it is then.
    ///   - render: Called for each bot whose rows are not cached with this content.
    func html(
        _ contents: [Content], isFiltered: Bool = false, render: (Content) throws -> String
    ) rethrows -> String {
        let known = known.withLock { $0 }
        var (current, html) = ([Name: (content: Content, html: String)](minimumCapacity: contents.count), "")
        var isChanged = known.count != contents.count
        for content in contents {
            if let article = known[content.bot.name], article.content == content {
                current[content.bot.name] = article
            } else {
                current[content.bot.name] = (content, try render(content))
                isChanged = true
            }
            html += current[content.bot.name]?.html ?? ""
        }
        if isChanged, !isFiltered { self.known.withLock { $0 = current } }
        return html
    }
}
