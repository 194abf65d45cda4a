import Synchronization

/// The ids of the names that were stored last: an integration's configurations run the same tests, and so does the next one.
/// Looking up 20,000 of them takes a tenth of a second, an attempt.
final class TestNameCache: Sendable {
    /// In all; with more it begins anew. 100,000 are some 150 bytes each, and names can be longer.
    static let maximumNames = 100_000
    /// Of all names together.
    static let maximumBytes = 32 << 20

    private struct Content {
        var bots: [Int64: [NamedTests.Key: Int64]] = [:]
        var count = 0
        var bytes = 0
    }

    private let content = Mutex(Content())

    /// Those of a bot that are known.
    func ids(of bot: Int64) -> [NamedTests.Key: Int64] { content.withLock { $0.bots[bot] ?? [:] } }

    /// Remembers names whose rows are on disk.
    func remember(_ ids: [NamedTests.Key: Int64], of bot: Int64) {
        content.withLock { content in
            let bytes = ids.keys.reduce(0) { $0 + $1.suite.utf8.count + $1.name.utf8.count }
            if content.count + ids.count > Self.maximumNames || content.bytes + bytes > Self.maximumBytes {
                content = Content()
            }
            guard ids.count <= Self.maximumNames, bytes <= Self.maximumBytes else { return }
            content.bytes += bytes
            let before = content.bots[bot]?.count ?? 0
            content.bots[bot, default: [:]].merge(ids) { $1 }
            content.count += (content.bots[bot]?.count ?? 0) - before
        }
    }
}
