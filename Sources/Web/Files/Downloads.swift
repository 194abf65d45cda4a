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

    private let counts: Mutex<[Key: Int64]> = Mutex([:])
    private let store: Store
    private let logger: Logger

    init(store: Store, logger: Logger) {
        self.store = store
        self.logger = logger
    }

    func count(_ key: Key) { counts.withLock { $0[key, default: 0] += 1 } }

    /// What is not stored yet.
    var pending: [Key: Int64] { counts.withLock(\.self) }

    /// Stores what was counted; what cannot be stored stays for the next time.
    func flush() async {
        let taken = counts.withLock { counts in
            defer { counts = [:] }
            return counts
        }
        guard !taken.isEmpty else { return }
        do throws(StoreError) {
            try await store.addDownloads(
                taken.map { DownloadCount(product: $0.product, version: $0.version, path: $0.path, count: $1) })
        } catch {
            counts.withLock { $0.merge(taken) { $0 + $1 } }
            logger.error("downloads could not be counted", metadata: ["error": "\(error)"])
        }
    }

    /// Of a product's files, all that were ever counted.
    func counts(of product: Name) async throws -> Counts {
        await flush()
        return Counts(stored: try await store.downloads(of: product))
    }

    /// How often a product's files were downloaded.
    struct Counts: Sendable {
        private var counts: [Key: Int64] = [:]

        fileprivate init(stored: [DownloadCount]) {
            for file in stored {
                counts[Key(product: file.product, version: file.version, path: file.path)] = file.count
            }
        }

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
