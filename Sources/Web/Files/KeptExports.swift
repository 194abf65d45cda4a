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

    /// One of an integration's exports.
    struct Key: Hashable, Sendable {
        let integration: IntegrationID
        /// The form, and everything in the request that determines the content.
        let name: String
    }

    /// A complete export.
    struct Export: Sendable {
        let head: FileHead
        let file: OpenFile
    }

    private struct Entry: Sendable {
        let export: Export
        let stamp: UInt64
        var used: UInt64
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var bytes: Int64 = 0
        var uses: UInt64 = 0

        mutating func remove(_ key: Key) {
            if let old = entries.removeValue(forKey: key) { bytes -= old.export.head.size }
        }
    }

    private let state = Mutex(State())

    /// All kept exports together, in bytes.
    var bytes: Int64 { state.withLock { $0.bytes } }

    /// The integrations of which there are exports.
    var integrations: Set<IntegrationID> { state.withLock { Set($0.entries.keys.map(\.integration)) } }

    /// Returns an export that shows what is stored now. One that shows something older is removed.
    /// - Parameter stamp: The integration's.
    func export(_ key: Key, stamp: UInt64) -> Export? {
        state.withLock { state in
            guard let entry = state.entries[key] else { return nil }
            guard entry.stamp == stamp else {
                state.remove(key)
                return nil
            }
            state.uses += 1
            state.entries[key]?.used = state.uses
            return entry.export
        }
    }

    /// - Parameter stamp: The integration's before anything of the export was read.
    func put(_ export: Export, _ key: Key, stamp: UInt64) {
        state.withLock { state in
            state.remove(key)
            guard export.head.size <= Self.maximumBytes else { return }
            while state.entries.count >= Self.maximumCount || state.bytes + export.head.size > Self.maximumBytes,
                let oldest = state.entries.min(by: { $0.value.used < $1.value.used })?.key
            {
                state.remove(oldest)
            }
            state.uses += 1
            state.entries[key] = Entry(export: export, stamp: stamp, used: state.uses)
            state.bytes += export.head.size
        }
    }

    /// Removes all exports of an integration.
    func remove(_ id: IntegrationID) {
        state.withLock { state in
            for key in state.entries.keys where key.integration == id { state.remove(key) }
        }
    }

    /// Removes all, as for a disk that is full.
    func removeAll() { state.withLock { $0 = State() } }
}

/// Answers with exports of one form.
struct ExportAnswers: Sendable {
    let site: Site
    /// The file's media type.
    let type: String
    /// Computes an export; called again if the disk turned out to be full.
    let make: @Sendable (Call, IntegrationRecord) async throws -> Response

    private enum Outcome: Sendable {
        case kept(KeptExports.Export)
        /// Of a service whose disk is full.
        case whole(Response)
    }

    /// Answers from the kept export, or computes it. The route has the cost `kept`.
    /// - Parameter name: See `KeptExports.Key`.
    /// - Throws: 404, 410; 412 by the request's conditions; 503 if a limit is reached.
    func answer(_ call: Call, _ name: String) async throws -> Response {
        let limits = call.limits
        let (record, known) = try await limits.turn(of: limits.light, for: call) {
            let record = try await site.integration(of: call)
            let key = KeptExports.Key(integration: record.id, name: name)
            return (record, site.exports.export(key, stamp: site.store.stamp(of: record.id)))
        }
        if let known { return try response(known, call) }
        let outcome = try await limits.computed(call, limits.exports) { try await compute(call, record.id, name) }
        switch outcome {
        case .kept(let export): return try response(export, call)
        case .whole(let response): return response
        }
    }

    private func compute(_ call: Call, _ id: IntegrationID, _ name: String) async throws -> Outcome {
        let key = KeptExports.Key(integration: id, name: name)
        let stamp = site.store.stamp(of: id)
        // The integration may have changed, or be gone, since the request came. Read after the stamp, it is never older than that.
        let record = try await site.integration(id)
        // Another request may have computed it while this one waited for its turn.
        if let known = site.exports.export(key, stamp: stamp) { return .kept(known) }
        for id in site.exports.integrations where try await site.store.integration(id) == nil {
            site.exports.remove(id)
        }
        do {
            let export = try await ExportFile.write(
                try await make(call, record).body, type: type, in: call.limits.directory, by: call.limits.files)
            site.exports.put(export, key, stamp: stamp)
            return .kept(export)
        } catch let error as OpenFile.ReadError where error.isOfFullDisk {
            site.exports.removeAll()
            return .whole(try await make(call, record).spooled(for: call))
        }
    }

    private func response(_ export: KeptExports.Export, _ call: Call) throws -> Response {
        let answer = try export.head.answer(to: call.request.headers, isHead: call.request.method == .head)
        guard let range = answer.range else { return Response(status: answer.status, headers: answer.headers) }
        let body = call.limits.files.body(of: export.file, range: range, over: call.channel, call.progress) {}
        return try call.limits.download(Response(status: answer.status, headers: answer.headers, body: body), call)
    }
}
