import Synchronization

/// A cache of test names' ids. An integration's configurations run the same tests, and so does the next integration. Looking up 20,000 names takes
/// 0.1 s per attempt.
final class TestNameCache: Sendable {
    /// The most names of all bots. The cache is emptied when it would exceed this. 100,000 names take about 150 bytes each, or more if they are
    /// longer.
    static let maximumNames = 100_000
    /// The most bytes of all names together.
    static let maximumBytes = 32 << 20

    private struct Content {
        var bots: [Int64: [NamedTests.Key: Int64]] = [:]
        var count = 0
        var bytes = 0
    }

    private let content = Mutex(Content())

    /// Returns the cached ids of a bot's tests.
    func ids(of bot: Int64) -> [NamedTests.Key: Int64] { content.withLock { $0.bots[bot] ?? [:] } }

    /// Caches names whose rows are on disk.
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
