import Synchronization

/// The ids of the names that were stored last: an integration's configurations run the same tests, and so does the next one.
/// Looking up 20,000 of them takes a tenth of a second, an attempt.
final class TestNameCache: Sendable {
    /// In all, of some 150 bytes each; with more it begins anew.
    static let maximumNames = 100_000

    private struct Content {
        var bots: [Int64: [NamedTests.Key: Int64]] = [:]
        var count = 0
    }

    private let content = Mutex(Content())

    /// Those of a bot that are known.
    func ids(of bot: Int64) -> [NamedTests.Key: Int64] { content.withLock { $0.bots[bot] ?? [:] } }

    /// Remembers names whose rows are on disk.
    func remember(_ ids: [NamedTests.Key: Int64], of bot: Int64) {
        content.withLock { content in
            if content.count + ids.count > Self.maximumNames { content = Content() }
            guard ids.count <= Self.maximumNames else { return }
            let before = content.bots[bot]?.count ?? 0
            content.bots[bot, default: [:]].merge(ids) { $1 }
            content.count += (content.bots[bot]?.count ?? 0) - before
        }
    }
}
