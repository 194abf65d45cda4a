import Basics
import GRDB
import Glibc
package import Model
import Synchronization

/// All that survives a restart: rows in one SQLite file.
///
/// Every write is durable when its call returns (WAL, `synchronous=FULL`), goes through one lane that joins waiting
/// writes into one transaction, and is not undone by the caller's cancellation. Reads see the last commit, run beside
/// the writer on connections of their own, and block neither it nor the cooperative pool.
package final class Store: Sendable {
    /// The largest page of a listing.
    package static let maximumPage = 200
    /// Bytes kept of a reason, a subject or a note; longer texts are cut at a character's end.
    package static let maximumTextBytes = 4096
    /// Rows of one batch of results. 100 findings with 200-byte messages took 2.0 ms, 200 took 5.0 ms (median of 30; debug
    /// build, two cores at a load of 13).
    package static let batchSize = 100
    /// A batch that takes longer, on a slow machine or of long texts, ends before its size: with `WriterLane.joiningTime` before
    /// it, it leaves a part of the 5 ms that a transaction may hold the writer for the disk.
    static let batchTime: Duration = .milliseconds(1.5)
    /// How long a statement waits for another process that holds the file, such as `sqlite3` or a backup.
    package static let busyTimeout: Duration = .seconds(5)
    /// The bytes that the write-ahead log's file keeps at most when SQLite begins it again from its start. SQLite copies a log of 1,000 pages into
    /// the database with the commit that reaches them, and begins it again once no read needs it (sqlite.org/wal.html). While a read needs it, the
    /// log grows.
    static let largestLog = 64 << 20

    /// Reads that run at once, each on a connection of its own (GRDB's default).
    private static let maximumReaders = 5

    let pool: DatabasePool
    let lane: WriterLane
    private let readers: BlockingLanes
    let testNames = TestNameCache()
    let queueHeads = QueueHeads()
    /// What `statedAccess` read last.
    let access = Mutex<(stamp: Int, stated: [Name: Bool])?>(nil)
    private let broadcast: ChangeBroadcast

    private init(pool: DatabasePool) {
        self.pool = pool
        broadcast = ChangeBroadcast()
        readers = BlockingLanes(label: "readers", count: Self.maximumReaders)
        lane = WriterLane(pool: pool, broadcast: broadcast)
    }

    /// Opens the database, creating it (mode 0600) or bringing it to this version's schema. Blocks while it does.
    /// - Parameter path: Of the file; its directory must exist.
    /// - Throws: `newerSchema` for a file that a newer version wrote, which is left as it is; `cannotOpen`, `corrupt`,
    ///   `full`, `io`, `busy`.
    package static func open(path: String) throws(StoreError) -> Store {
        let operation = "open the database \(path)"
        try createPrivately(path, operation: operation)
        do {
            var configuration = Configuration()
            configuration.busyMode = .timeout(Double(busyTimeout.components.seconds))
            configuration.label = "martlet.store"
            configuration.maximumReaderCount = maximumReaders
            try Schema.refuseNewer(path, configuration)
            let pool = try DatabasePool(path: path, configuration: configuration)
            // GRDB's own WAL setup has just set NORMAL, with which a power cut may take committed transactions back.
            try pool.writeWithoutTransaction {
                try $0.execute(sql: "PRAGMA synchronous = FULL; PRAGMA journal_size_limit = \(largestLog)")
            }
            try Schema.migrator.migrate(pool)
            return Store(pool: pool)
        } catch {
            throw StoreError(error, operation: operation)
        }
    }

    /// SQLite gives the WAL and index files the mode of the database's file.
    private static func createPrivately(_ path: String, operation: String) throws(StoreError) {
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StoreError(
                code: errno == ENOSPC ? .full : .cannotOpen, operation: operation,
                message: "\(String(cString: strerror(errno))); check that the directory exists and is ours")
        }
        defer { Glibc.close(descriptor) }
        guard fchmod(descriptor, 0o600) == 0 else {
            throw StoreError(
                code: .cannotOpen, operation: operation,
                message: "\(String(cString: strerror(errno))); the file must belong to the user that runs Martlet")
        }
    }

    /// Closes the file after the writes that were begun, and ends the streams of changes. Every later call throws
    /// `closed`. Blocks while it does.
    package func close() throws(StoreError) {
        broadcast.finish()
        do {
            try pool.close()
        } catch {
            throw StoreError(error, operation: "close the database")
        }
    }

    /// The changes from now on, each after its commit. A listener that is more than 256 changes behind loses the oldest.
    package func changes() -> AsyncStream<StoreChange> { broadcast.stream() }

    /// The integrations that complete from now on. None is left out, however far the listener is behind: it is a name and a number for
    /// each of them.
    package func completions() -> AsyncStream<IntegrationID> {
        broadcast.stream(.unbounded) { change in
            if case .completed(let id) = change { id } else { nil }
        }
    }

    /// Has listeners look again at what is kept in memory beside the database, such as how far an upload is.
    package func tell(_ change: StoreChange) { broadcast.publish([change]) }

    /// Another number once bots or versions have changed.
    var publishings: Int { broadcast.publishings }

    /// A number that is larger after each committed change of an integration, its attempts, its results or its bot's silences, until the store is
    /// closed. What was read after a number was taken holds for as long as the number stays.
    package func stamp(of id: IntegrationID) -> UInt64 { broadcast.stamp(of: id) }

    /// What its writer did since it was opened.
    package func writerFigures() -> WriterFigures { lane.figures }

    /// Reads in one snapshot, on a connection of its own.
    func read<Value: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        // Not GRDB's `asyncRead`, which passes to a second thread before it reads, each time.
        try await readers.run { [pool] () throws(StoreError) in
            Failpoint.trap("read \(operation)")
            do { return try pool.read(body) } catch { throw StoreError(error, operation: operation) }
        }
    }
}
