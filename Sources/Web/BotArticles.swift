import Model
import Storage
import Synchronization

/// The articles of the page of all bots, as they were rendered last. Rendering one takes longer than reading it, and few of a thousand change between
/// two requests.
final class BotArticles: Sendable {
    /// All that an article shows.
    struct Content: Hashable {
        let bot: BotOverview
        /// The age of each branch's integration in words, which changes by itself.
        let ages: [String]

        init(_ bot: BotOverview, at now: Timestamp) {
            self.bot = bot
            ages = bot.branches.map { PageText.age($0.queuedAt, now: now) }
        }
    }

    private let known = Mutex<[Name: (content: Content, html: String)]>([:])

    /// The articles of these bots, one after the other. Those of all other bots are forgotten.
    /// - Parameter render: Called for each article that is not known with this content.
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
