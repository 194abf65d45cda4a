import HTTPTypes
import Hummingbird
import Model
import Storage
import Synchronization

/// Exports of integrations, each computed once for as long as what it shows does not change (`Store.stamp(of:)`).
///
/// They are files without a name: a file disappears with its last reader and with the process, so no stop leaves a part of one behind. An export
/// becomes visible when it is complete. Of one export only one is computed at a time, since exports wait for each other.
///
/// Each byte on the disk is counted until its file is closed: here for a kept export, also where it was removed while clients read it; otherwise in
/// `WebLimits.answers`.
final class KeptExports: Sendable {
    /// The most exports, each with a descriptor, and bytes of all together. Beyond, the one that was asked for longest ago goes, of those that no
    /// client reads.
    static let maximumCount = 16
    static let maximumBytes: Int64 = 128 << 20

    /// The most forms of one kind that are kept of an integration. A client can ask for thousands, and would remove all others' exports.
    static let maximumForms = 4

    /// One of an integration's exports.
    struct Key: Hashable, Sendable {
        let integration: IntegrationID
        /// For example `tests/grid`.
        let kind: String
        /// Everything in the request that determines the content.
        let form: String

        fileprivate func isForm(of other: Key) -> Bool { integration == other.integration && kind == other.kind }
    }

    /// A complete export.
    struct Export: Sendable {
        /// Counts the bytes of the file until it is released.
        enum Count: Sendable {
            case kept(Reader)
            /// Of an export that is not kept.
            case answer(HolderLimit.Holder)
        }

        let head: FileHead
        let file: OpenFile
        let count: Count
    }

    /// The bytes of all places together.
    fileprivate final class Bytes: Sendable {
        let count = Atomic<Int64>(0)
    }

    /// The bytes of a kept export, counted until its entry and its last reader are gone.
    fileprivate final class Place: Sendable {
        let size: Int64
        let readers = Atomic<Int>(0)
        private let total: Bytes

        init(_ size: Int64, of total: Bytes) {
            (self.size, self.total) = (size, total)
            total.count.add(size, ordering: .relaxed)
        }

        deinit { total.count.subtract(size, ordering: .relaxed) }
    }

    /// A use of a kept export, which lasts until it is released.
    final class Reader: Sendable {
        private let place: Place

        fileprivate init(of place: Place) {
            self.place = place
            place.readers.add(1, ordering: .relaxed)
        }

        deinit { place.readers.subtract(1, ordering: .relaxed) }
    }

    fileprivate struct Entry: Sendable {
        let head: FileHead
        let file: OpenFile
        let place: Place
        let stamp: UInt64
        var used: UInt64

        /// Readers begin with the lock held, so an entry that has none gets none while it is held.
        var isRead: Bool { place.readers.load(ordering: .relaxed) > 0 }
        var export: Export { Export(head: head, file: file, count: .kept(Reader(of: place))) }
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var uses: UInt64 = 0

        /// - Returns: The removed ones.
        mutating func remove(_ keys: [Key]) -> [Entry] { keys.compactMap { entries.removeValue(forKey: $0) } }

        /// Returns the keys to remove so that another export can be kept.
        /// - Parameters:
        ///   - key: The other's.
        ///   - bytes: Of all, with the other.
        /// - Returns: `nil` if clients read too many of them.
        func keysToRemove(for key: Key, bytes: Int64) -> [Key]? {
            var (count, bytes, found) = (entries.count, bytes, [Key]())
            var unread = entries.filter { !$0.value.isRead }.sorted { $0.value.used < $1.value.used }[...]
            if entries.keys.count(where: { $0.isForm(of: key) }) >= KeptExports.maximumForms {
                guard let index = unread.firstIndex(where: { $0.key.isForm(of: key) }) else { return nil }
                let oldest = unread.remove(at: index)
                found.append(oldest.key)
                (count, bytes) = (count - 1, bytes - oldest.value.place.size)
            }
            while count >= KeptExports.maximumCount || bytes > KeptExports.maximumBytes {
                guard let oldest = unread.popFirst() else { return nil }
                found.append(oldest.key)
                (count, bytes) = (count - 1, bytes - oldest.value.place.size)
            }
            return found
        }
    }

    /// Exports that were removed. Each file is closed with its last reader or with this object; the closing of a large one blocks.
    final class Removed: Sendable {
        private let entries: Mutex<[Entry]>

        fileprivate init(_ entries: [Entry]) { self.entries = Mutex(entries) }

        /// Releases the files on a serial queue.
        func release(by files: FileSender) async {
            guard entries.withLock({ !$0.isEmpty }) else { return }
            await files.run { self.entries.withLock { $0 = [] } }
        }
    }

    private let state = Mutex(State())
    private let total = Bytes()

    /// All kept exports together, and removed ones that clients read, in bytes.
    var bytes: Int64 { total.count.load(ordering: .relaxed) }

    /// The integrations of which there are exports.
    var integrations: Set<IntegrationID> { state.withLock { Set($0.entries.keys.map(\.integration)) } }

    /// Returns an export that shows what is stored now. One that shows something older stays until another takes its place.
    /// - Parameter stamp: The integration's.
    func export(_ key: Key, stamp: UInt64) -> Export? {
        state.withLock { state in
            guard let entry = state.entries[key], entry.stamp == stamp else { return nil }
            state.uses += 1
            state.entries[key]?.used = state.uses
            return entry.export
        }
    }

    /// Keeps an export in the place of an earlier one with its key, if there is room.
    /// - Parameter stamp: The integration's before anything of the export was read.
    /// - Returns: The export, `nil` if it is not kept; and those that had to go.
    @discardableResult
    func put(_ new: ExportFile.Complete, _ key: Key, stamp: UInt64) -> (kept: Export?, removed: Removed) {
        state.withLock { state in
            let old = state.remove([key])
            let freed = old.filter { !$0.isRead }.reduce(0) { $0 + $1.place.size }
            guard let keys = state.keysToRemove(for: key, bytes: bytes - freed + new.head.size) else {
                return (nil, Removed(old))
            }
            let removed = old + state.remove(keys)
            state.uses += 1
            let place = Place(new.head.size, of: total)
            let entry = Entry(head: new.head, file: new.file, place: place, stamp: stamp, used: state.uses)
            state.entries[key] = entry
            return (entry.export, Removed(removed))
        }
    }

    /// Removes all exports of integrations.
    func remove(_ gone: Set<IntegrationID>) -> Removed {
        state.withLock { state in Removed(state.remove(state.entries.keys.filter { gone.contains($0.integration) })) }
    }

    /// Removes all, as for a disk that is full.
    @discardableResult
    func removeAll() -> Removed { state.withLock { state in Removed(state.remove(Array(state.entries.keys))) } }
}

/// Answers with exports of one form.
struct ExportAnswers: Sendable {
    let site: Site
    /// The file's media type.
    let type: String
    /// Computes an export; called again if the disk turned out to be full.
    let make: @Sendable (AuthorizedRequest, IntegrationRecord) async throws -> Made

    /// An export on its way.
    struct Made: Sendable {
        let response: Response
        /// False for one that is cheap to compute again, such as a page beyond the last one.
        var isKept = true
    }

    private enum Outcome: Sendable {
        case file(KeptExports.Export)
        /// Of a service whose disk is full.
        case whole(Response)
    }

    /// Answers from the kept export, or computes it. The route has the cost `kept`.
    /// - Parameters:
    ///   - kind: See `KeptExports.Key`.
    ///   - form: Likewise.
    /// - Throws: 404, 410; 412 by the request's conditions; 503 if a limit is reached.
    func answer(_ call: AuthorizedRequest, _ kind: String, _ form: String = "") async throws -> Response {
        let limits = call.limits
        let (key, known) = try await limits.turn(of: limits.light, for: call) {
            let record = try await site.integration(of: call)
            let key = KeptExports.Key(integration: record.id, kind: kind, form: form)
            return (key, site.exports.export(key, stamp: site.store.stamp(of: record.id)))
        }
        if let known { return try response(known, call) }
        let outcome = try await limits.computed(call, limits.exports) { try await compute(call, key) }
        switch outcome {
        case .file(let export): return try response(export, call)
        case .whole(let response): return response
        }
    }

    private func compute(_ call: AuthorizedRequest, _ key: KeptExports.Key) async throws -> Outcome {
        let stamp = site.store.stamp(of: key.integration)
        // The integration may have changed, or be gone, since the request came. Read after the stamp, it is never older than that.
        let record = try await site.integration(key.integration)
        // Another request may have computed it while this one waited for its turn.
        if let known = site.exports.export(key, stamp: stamp) { return .file(known) }
        var gone: Set<IntegrationID> = []
        for id in site.exports.integrations where try await site.store.integration(id) == nil { gone.insert(id) }
        await site.exports.remove(gone).release(by: call.limits.files)
        let limits = call.limits
        do {
            let made = try await make(call, record)
            let holder = try limits.answers.hold(for: call.asker, on: call.channel, call.progress, hasBegun: false)
            let new = try await ExportFile.write(
                made.response.body, type: type, for: holder, in: limits.directory, by: limits.files)
            let own = KeptExports.Export(head: new.head, file: new.file, count: .answer(holder))
            guard made.isKept else { return .file(own) }
            let (kept, removed) = site.exports.put(new, key, stamp: stamp)
            await removed.release(by: limits.files)
            return .file(kept ?? own)
        } catch let error as OpenFile.ReadError where error.isOfFullDisk {
            await site.exports.removeAll().release(by: call.limits.files)
            return .whole(try await make(call, record).response.spooled(for: call))
        }
    }

    private func response(_ export: KeptExports.Export, _ call: AuthorizedRequest) throws -> Response {
        let answer = try export.head.answer(to: call.request.headers, isHead: call.request.method == .head)
        guard let range = answer.range else { return Response(status: answer.status, headers: answer.headers) }
        let sent = call.limits.files.body(of: export.file, range: range, over: call.channel, call.progress) {}
        func held(_ sent: ResponseBody) -> ResponseBody {
            ResponseBody(contentLength: sent.contentLength) { writer in
                if case .answer(let holder) = export.count { holder.begin() }
                try await sent.write(writer)
                withExtendedLifetime(export) {}
            }
        }
        let response = Response(status: answer.status, headers: answer.headers, body: held(sent))
        let coded = response.coded(for: call) { _ in
            held(call.limits.files.codedBody(range: range, call.progress) { try export.file.read(at: $0, count: $1) })
        }
        return try call.limits.download(coded, call)
    }
}
