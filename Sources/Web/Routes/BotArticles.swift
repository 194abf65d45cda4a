import Model
import Storage
import Synchronization

/// A cache of the articles on the page of all bots. Rendering an article takes longer than reading its data, and only a few of a thousand bots change
/// between two requests.
final class BotArticles: Sendable {
    /// Everything that an article shows.
    struct Content: Hashable {
        let bot: BotOverview
        /// The age of each branch's integration in words. It changes with time alone.
        let ages: [String]

        init(_ bot: BotOverview, at now: Timestamp) {
            self.bot = bot
            ages = bot.branches.map { PageText.age($0.queuedAt, now: now) }
        }
    }

    private let known = Mutex<[Name: (content: Content, html: String)]>([:])

    /// Returns the articles of these bots, concatenated, and drops the cached articles of all other bots.
    /// - Parameter render: Called for each article that is not cached with this content.
    func html(_ contents: [Content], render: (Content) throws -> String) rethrows -> String {
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
        if isChanged { self.known.withLock { $0 = current } }
        return html
    }
}
