import HTTPTypes
import Hummingbird
import Model
import Storage
import Synchronization

/// Exports of integrations, each computed once for as long as what it shows does not change (`Store.stamp(of:)`).
///
/// They are files without a name: a file disappears with its last reader and with the process, so no stop leaves a part of one behind. An export
/// becomes visible when it is complete. Of one export only one is computed at a time, since exports wait for each other.
final class KeptExports: Sendable {
    /// The most exports, each with a descriptor, and bytes of all together. Beyond, the one that was asked for longest ago goes.
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
        let head: FileHead
        let file: OpenFile
    }

    fileprivate struct Entry: Sendable {
        let export: Export
        let stamp: UInt64
        var used: UInt64
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var bytes: Int64 = 0
        var uses: UInt64 = 0

        /// - Returns: The removed ones.
        mutating func remove(_ keys: [Key]) -> [Entry] {
            let removed = keys.compactMap { entries.removeValue(forKey: $0) }
            for entry in removed { bytes -= entry.export.head.size }
            return removed
        }

        /// The key that was asked for longest ago.
        func oldest(where isMeant: (Key) -> Bool = { _ in true }) -> Key? {
            entries.filter { isMeant($0.key) }.min { $0.value.used < $1.value.used }?.key
        }
    }

    /// Exports that were removed. Each file is closed with its last reader or with this object; the closing of a large one blocks.
    final class Removed: Sendable {
        private let entries: Mutex<[Entry]>

        fileprivate init(_ entries: [Entry]) { self.entries = Mutex(entries) }

        /// Releases the files on a lane.
        func release(by files: FileSender) async {
            guard entries.withLock({ !$0.isEmpty }) else { return }
            await files.run { self.entries.withLock { $0 = [] } }
        }
    }

    private let state = Mutex(State())

    /// All kept exports together, in bytes.
    var bytes: Int64 { state.withLock { $0.bytes } }

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

    /// Keeps an export in the place of an earlier one with its key.
    /// - Parameter stamp: The integration's before anything of the export was read.
    /// - Returns: What it has replaced.
    @discardableResult
    func put(_ export: Export, _ key: Key, stamp: UInt64) -> Removed {
        state.withLock { state in
            var removed = state.remove([key])
            guard export.head.size <= Self.maximumBytes else { return Removed(removed) }
            if state.entries.keys.count(where: { $0.isForm(of: key) }) >= Self.maximumForms,
                let oldest = state.oldest(where: { $0.isForm(of: key) })
            {
                removed += state.remove([oldest])
            }
            while state.entries.count >= Self.maximumCount || state.bytes + export.head.size > Self.maximumBytes,
                let oldest = state.oldest()
            {
                removed += state.remove([oldest])
            }
            state.uses += 1
            state.entries[key] = Entry(export: export, stamp: stamp, used: state.uses)
            state.bytes += export.head.size
            return Removed(removed)
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
    let make: @Sendable (Call, IntegrationRecord) async throws -> Made

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
    func answer(_ call: Call, _ kind: String, _ form: String = "") async throws -> Response {
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

    private func compute(_ call: Call, _ key: KeptExports.Key) async throws -> Outcome {
        let stamp = site.store.stamp(of: key.integration)
        // The integration may have changed, or be gone, since the request came. Read after the stamp, it is never older than that.
        let record = try await site.integration(key.integration)
        // Another request may have computed it while this one waited for its turn.
        if let known = site.exports.export(key, stamp: stamp) { return .file(known) }
        var gone: Set<IntegrationID> = []
        for id in site.exports.integrations where try await site.store.integration(id) == nil { gone.insert(id) }
        await site.exports.remove(gone).release(by: call.limits.files)
        do {
            let made = try await make(call, record)
            let export = try await ExportFile.write(
                made.response.body, type: type, in: call.limits.directory, by: call.limits.files)
            if made.isKept {
                await site.exports.put(export, key, stamp: stamp).release(by: call.limits.files)
            }
            return .file(export)
        } catch let error as OpenFile.ReadError where error.isOfFullDisk {
            await site.exports.removeAll().release(by: call.limits.files)
            return .whole(try await make(call, record).response.spooled(for: call))
        }
    }

    private func response(_ export: KeptExports.Export, _ call: Call) throws -> Response {
        let answer = try export.head.answer(to: call.request.headers, isHead: call.request.method == .head)
        guard let range = answer.range else { return Response(status: answer.status, headers: answer.headers) }
        let body = call.limits.files.body(of: export.file, range: range, over: call.channel, call.progress) {}
        return try call.limits.download(Response(status: answer.status, headers: answer.headers, body: body), call)
    }
}
