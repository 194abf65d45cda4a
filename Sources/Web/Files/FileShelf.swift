import NIOCore
import Synchronization

/// Small published files in memory, by the path that asked for them, so that most requests are answered where they come in.
///
/// An entry is one decision of the usual way: that this path is this file, that its bytes are the recorded ones and that anybody may
/// read it. It holds for a second; then one request goes the usual way again, and what was changed, closed or taken away is so for all.
final class FileShelf: Sendable {
    /// The largest file, in bytes, and all together: at least 512 files.
    static let maximumFileBytes = 64 << 10
    static let maximumBytes = 32 << 20
    static let trust = TimeAmount.seconds(1)
    /// What an entry takes beside its bytes, headers and path among them.
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

    /// - Parameter target: As the request has it. One with a query is not kept: there are too many of them.
    func put(_ entry: Entry, at target: String, now: NIODeadline? = nil) {
        let now = now ?? clock()
        guard !target.utf8.contains(UInt8(ascii: "?")) else { return }
        let size = Self.size(entry)
        state.withLock { state in
            if let old = state.entries.removeValue(forKey: target) { state.bytes -= Self.size(old.entry) }
            // All would go within a second.
            if state.bytes + size > Self.maximumBytes { state = State() }
            state.entries[target] = (entry, now + Self.trust)
            state.bytes += size
        }
    }

    /// What is trusted at this path; an older entry is taken away.
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

    /// In bytes, as counted here.
    var bytes: Int { state.withLock { $0.bytes } }

    private static func size(_ entry: Entry) -> Int { entry.bytes.readableBytes + entryBytes }
}
