import NIOCore
import Synchronization

/// A cache of small published files in memory, keyed by request path. Most requests are answered from it on the connection's own thread.
///
/// An entry caches three decisions: which file the path selects, that its bytes match the recorded digest, and that anybody may read it. It is valid
/// for a second; the next request then takes the full route. Changed, closed or removed files are therefore served for at most a second.
final class FileCache: Sendable {
    /// The largest file and the size of the cache, both in bytes. The cache holds at least 512 files.
    static let maximumFileBytes = 64 << 10
    static let maximumBytes = 32 << 20
    static let trust = TimeAmount.seconds(1)
    /// The size of an entry in addition to its bytes, such as headers and path, in bytes.
    private static let entryBytes = 2048

    struct Entry: Sendable {
        let head: FileHead
        let bytes: ByteBuffer
        let download: Downloads.Key?
    }

    private struct State {
        var entries: [String: (entry: Entry, until: NIODeadline)] = [:]
        var bytes = 0
    }
    private let state = Mutex(State())
    private let clock: @Sendable () -> NIODeadline

    init(clock: @escaping @Sendable () -> NIODeadline = { .now() }) { self.clock = clock }

    /// Adds an entry.
    /// - Parameter target: The path as the request has it. A path with a query is not cached, because there is no limit to their number.
    func put(_ entry: Entry, at target: String, now: NIODeadline? = nil) {
        let now = now ?? clock()
        guard !target.utf8.contains(UInt8(ascii: "?")) else { return }
        let size = Self.size(entry)
        state.withLock { state in
            if let old = state.entries.removeValue(forKey: target) { state.bytes -= Self.size(old.entry) }
            // A full cache is emptied: all of its entries would expire within a second.
            if state.bytes + size > Self.maximumBytes { state = State() }
            state.entries[target] = (entry, now + Self.trust)
            state.bytes += size
        }
    }

    /// Returns the valid entry for a path, and removes an expired one.
    /// - Returns: `nil` if there is no valid entry.
    func entry(at target: String, now: NIODeadline? = nil) -> Entry? {
        let now = now ?? clock()
        return state.withLock { state in
            guard let found = state.entries[target] else { return nil }
            if now < found.until { return found.entry }
            state.entries[target] = nil
            state.bytes -= Self.size(found.entry)
            return nil
        }
    }

    /// The size of the cache in bytes, including `entryBytes` for each entry.
    var bytes: Int { state.withLock { $0.bytes } }

    private static func size(_ entry: Entry) -> Int { entry.bytes.readableBytes + entryBytes }
}
