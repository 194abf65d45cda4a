import Basics
import GRDB
import Glibc
package import Model
import Synchronization

/// The daemon's persistent state: rows in one SQLite file.
///
/// Every write is durable when its call returns (WAL, `synchronous=FULL`). Writes go through one serial queue that joins waiting writes into one
/// transaction. A caller's cancellation does not undo them. Reads see the last commit. They run beside the writer on connections of their own, and
/// block neither it nor the cooperative pool.
package final class Store: Sendable {
    /// The largest page of a listing.
    package static let maximumPage = 200
    /// The most bytes kept of a reason, a subject or a note. Longer texts are cut at the end of a character.
    package static let maximumTextBytes = 4096
    /// The most rows in one batch of results. 100 findings with 200-byte messages took 2.0 ms, 200 took 5.0 ms (median of 30; debug build, two cores
    /// at a load of 13).
    package static let batchSize = 100
    /// The time after which a batch ends before it is full, on a slow machine or with long texts. Together with `WriterQueue.joiningTime` it leaves
    /// the disk a part of the 5 ms that a transaction may hold the writer.
    static let batchTime: Duration = .milliseconds(1.5)
    /// How long a statement waits for another process that holds the file, such as `sqlite3` or a backup.
    package static let busyTimeout: Duration = .seconds(5)
    /// The most bytes that the write-ahead log's file keeps when SQLite starts again at its beginning. SQLite copies a log of 1,000 pages into the
    /// database with the commit that reaches them, and starts again once no read needs the log (sqlite.org/wal.html). While a read needs it, the log
    /// grows.
    static let largestLog = 64 << 20

    /// The most reads that run at once, each on a connection of its own (GRDB's default).
    private static let maximumReaders = 5

    let pool: DatabasePool
    let writer: WriterQueue
    private let readers: SerialQueues
    let testNames = TestNameCache()
    let queueHeads = QueueHeads()
    /// The latest result of `statedAccess`, with the `publishings` at which it was read.
    let access = Mutex<(stamp: Int, stated: [Name: Bool])?>(nil)
    /// The latest result of `pauses`, with the `publishings` at which it was read.
    let knownPauses = Mutex<(stamp: Int, pauses: Pauses)?>(nil)
    private let broadcast: ChangeBroadcast

    private init(pool: DatabasePool) {
        self.pool = pool
        broadcast = ChangeBroadcast()
        readers = SerialQueues(label: "readers", count: Self.maximumReaders)
        writer = WriterQueue(pool: pool, broadcast: broadcast)
    }

    /// Opens the database. Creates it with mode 0600, or migrates it to this version's schema. It blocks until it is done.
    /// - Parameter path: The path of the file; its directory must exist.
    /// - Throws: `newerSchema` for a file that a newer version wrote, which is left unchanged; `cannotOpen`, `corrupt`, `full`, `io`, `busy`.
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
            // GRDB's own WAL setup has just set NORMAL, with which a power failure may undo committed transactions.
            try pool.writeWithoutTransaction {
                try $0.execute(sql: "PRAGMA synchronous = FULL; PRAGMA journal_size_limit = \(largestLog)")
            }
            try Schema.migrator.migrate(pool)
            return Store(pool: pool)
        } catch {
            throw StoreError(error, operation: operation)
        }
    }

    /// Creates the database's file with mode 0600. SQLite gives the WAL and index files the same mode.
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

    /// Closes the file after the writes that have begun, and ends the streams of changes. Every later call throws `closed`. It blocks until it is
    /// done.
    package func close() throws(StoreError) {
        broadcast.finish()
        do {
            try pool.close()
        } catch {
            throw StoreError(error, operation: "close the database")
        }
    }

    /// Returns a stream of the changes from now on, each after its commit. A listener that is more than 256 changes behind loses the oldest.
    package func changes() -> AsyncStream<StoreChange> { broadcast.stream() }

    /// Calls a function with each change from now on, after its commit and in the order of the commits.
    /// - Parameter take: Is called by the thread that committed, so it must be quick.
    /// - Returns: The observation, which ends when it is released.
    package func observe(_ take: @escaping @Sendable (StoreChange) -> Void) -> ChangeObservation {
        broadcast.observe(take)
    }

    /// Returns a stream of the integrations that complete from now on. It is unbounded, so that a slow listener loses none; each element is only a
    /// name and a number.
    package func completions() -> AsyncStream<IntegrationID> {
        broadcast.stream(.unbounded) { change in
            if case .completed(let id) = change { id } else { nil }
        }
    }

    /// Notifies listeners of a change in memory outside the database, such as an upload's progress.
    package func tell(_ change: StoreChange) { broadcast.publish([change]) }

    /// A number that grows whenever bots or versions change.
    var publishings: Int { broadcast.publishings }

    /// Returns a number that grows with each committed change of an integration, its attempts, its results or its bot's silences, until the store is
    /// closed. Values read after taking a number are valid while the number stays the same.
    package func stamp(of id: IntegrationID) -> UInt64 { broadcast.stamp(of: id) }

    /// Returns the writer's statistics since it was opened.
    package func writerFigures() -> WriterFigures { writer.figures }

    /// Runs `body` in one snapshot, on a connection of its own.
    func read<Value: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        // GRDB's `asyncRead` is not used, because each call switches to a second thread before it reads.
        try await readers.run { [pool] () throws(StoreError) in
            Failpoint.trap("read \(operation)")
            do { return try pool.read(body) } catch { throw StoreError(error, operation: operation) }
        }
    }
}

/// A part of a listing, newest first.
package struct Page<Item: Sendable>: Sendable {
    package var items: [Item]
    /// The cursor that continues the listing as `before:`; `nil` at its end. Rows added meanwhile do not shift the pages.
    package var next: Int64?

    package init(items: [Item], next: Int64?) {
        self.items = items
        self.next = next
    }
}

extension Page: Equatable where Item: Equatable {}
