import Logging
import Model
import ServiceLifecycle
import Storage
import Synchronization

/// Counts downloads in memory and stores them now and then, in one transaction.
final class Downloads: Service {
    struct Key: Hashable, Sendable {
        let product: Name
        let version: SemanticVersion
        let path: String
    }

    /// A daemon that is killed loses the counts of so long.
    static let interval = Duration.seconds(10)

    private struct State {
        var pending: [Key: Int64] = [:]
        /// Of these the transaction is under way.
        var storing: [Key: Int64] = [:]
    }
    private let state = Mutex(State())
    private let store: Store
    private let logger: Logger

    init(store: Store, logger: Logger) {
        self.store = store
        self.logger = logger
    }

    func count(_ key: Key) { state.withLock { $0.pending[key, default: 0] += 1 } }

    /// What is not stored yet.
    var pending: [Key: Int64] { state.withLock { $0.pending.merging($0.storing) { $0 + $1 } } }

    /// Stores what was counted; what cannot be stored stays for the next time.
    func flush() async {
        let taken = state.withLock { state in
            let taken = state.pending
            state.pending = [:]
            state.storing.merge(taken) { $0 + $1 }
            return taken
        }
        guard !taken.isEmpty else { return }
        var isStored = false
        do throws(StoreError) {
            try await store.addDownloads(
                taken.map { DownloadCount(product: $0.product, version: $0.version, path: $0.path, count: $1) })
            isStored = true
        } catch {
            logger.error("downloads could not be counted", metadata: ["error": "\(error)"])
        }
        state.withLock { [isStored] state in
            for (key, count) in taken {
                let left = state.storing[key, default: 0] - count
                state.storing[key] = left == 0 ? nil : left
                if !isStored { state.pending[key, default: 0] += count }
            }
        }
    }

    /// Of a product's files, all that were ever counted. Reading writes nothing: pages are asked for more often than files. One that is
    /// asked for while a transaction ends may be told those of ten seconds less.
    func counts(of product: Name) async throws -> Counts {
        var counts: [Key: Int64] = [:]
        for file in try await store.downloads(of: product) {
            counts[Key(product: file.product, version: file.version, path: file.path)] = file.count
        }
        for (key, count) in pending where key.product == product { counts[key, default: 0] += count }
        return Counts(counts: counts)
    }

    /// How often a product's files were downloaded.
    struct Counts: Sendable {
        fileprivate let counts: [Key: Int64]

        func of(_ path: String, in record: VersionRecord) -> Int64 {
            counts[Key(product: record.product, version: record.version, path: path)] ?? 0
        }

        /// Of all its files together.
        func of(_ record: VersionRecord) -> Int64 { record.files.reduce(0) { $0 + of($1.path, in: record) } }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do { try await Task.sleep(for: Self.interval) } catch { return }
                await self.flush()
            }
        }
        await flush()
    }
}
