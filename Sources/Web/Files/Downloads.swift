import Logging
import Model
import ServiceLifecycle
import Storage
import Synchronization

/// Counts downloads in memory and stores them at intervals, in one transaction.
final class Downloads: Service, CustomStringConvertible {
    let description = "counts of downloads"

    struct Key: Hashable, Sendable {
        let product: Name
        let version: SemanticVersion
        let path: String
    }

    /// A daemon that is killed loses at most the counts of this interval.
    static let interval = Duration.seconds(10)

    private let tally = Mutex(DownloadTally())
    private let store: Store
    private let logger: Logger

    init(store: Store, logger: Logger) {
        self.store = store
        self.logger = logger
    }

    func count(_ key: Key) { tally.withLock { $0.count(key) } }

    /// The counts that are not stored yet.
    var pending: [Key: Int64] { tally.withLock { $0.pending } }

    /// Stores the counts; counts that cannot be stored stay for the next time. Does nothing while another call is in progress.
    func flush() async {
        let products = Set(pending.keys.map(\.product))
        guard !products.isEmpty else { return }
        var hasBegun = false
        do throws(StoreError) {
            let before = try await stored(of: products)
            guard let taken = tally.withLock({ $0.begin(of: products, stored: before) }) else { return }
            hasBegun = true
            try await store.addDownloads(
                taken.map { DownloadCount(product: $0.product, version: $0.version, path: $0.path, count: $1) })
            tally.withLock { $0.end(isStored: true) }
        } catch {
            if hasBegun { tally.withLock { $0.end(isStored: false) } }
            logger.error("downloads could not be counted", metadata: ["error": "\(error)"])
        }
    }

    private func stored(of products: Set<Name>) async throws(StoreError) -> [Key: Int64] {
        var stored: [Key: Int64] = [:]
        for product in products {
            for file in try await store.downloads(of: product) {
                stored[Key(product: file.product, version: file.version, path: file.path)] = file.count
            }
        }
        return stored
    }

    /// Returns all counts of a product's files. It writes nothing, since pages are requested more often than files, and does not wait for a
    /// transaction. If one began or ended meanwhile, which happens once per `interval`, the read is repeated.
    func counts(of product: Name) async throws -> Counts {
        while true {
            let turn = tally.withLock { $0.turn }
            let stored = try await stored(of: [product])
            if let counts = tally.withLock({ $0.counts(of: product, stored: stored, at: turn) }) {
                return Counts(counts: counts)
            }
        }
    }

    /// How often a product's files were downloaded.
    struct Counts: Sendable {
        fileprivate let counts: [Key: Int64]

        func of(_ path: String, in record: VersionRecord) -> Int64 {
            counts[Key(product: record.product, version: record.version, path: path)] ?? 0
        }

        /// Returns the sum over all files of a version.
        func of(_ record: VersionRecord) -> Int64 {
            record.files.reduce(0) { Int64.clampedSum($0, of($1.path, in: record)) }
        }
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
