import GRDB
import GRDBSQLite
import Synchronization

/// Copies what is committed from the write-ahead log into the database's file, on a connection and a queue of its own.
///
/// SQLite does it by itself in each thousandth page's commit, which then holds the writer for the disk's time of a thousand
/// pages. A passive checkpoint waits for nobody, and nobody waits for it (sqlite.org/c3ref/wal_checkpoint_v2.html). When it has
/// copied all, the next transaction begins the log anew; where no moment without a write comes for that, `relieve` makes one.
final class Checkpointer: Sendable {
    /// So many pages of 4 KiB in the log that were not copied yet, and it is time: 1 MiB. Fewer cost the disk more syncs, more
    /// keep it longer from the writer's. In a log of four times as many each commit asks, until the log can begin anew.
    static let due = 256
    /// From so many pages in the log on, 64 MiB, the writer waits until it is copied and begins it anew. A reader that does not
    /// end keeps even that from being done; it is tried again each `due` pages.
    static let largestLog = 16_384

    private struct State {
        var figures = CheckpointFigures()
        /// Pages in the log when the last copying began.
        var looked = 0
        /// Pages in the log when the writer last could not begin it anew.
        var refused = 0
        /// One of the two is at it: the other would be refused.
        var isBusy = false
    }

    let queue: DatabaseQueue
    private let state = Mutex(State())
    private let due: Int
    private let largestLog: Int

    var figures: CheckpointFigures { state.withLock { $0.figures } }

    /// - Parameter path: Of the database, which is there.
    /// - Throws: What SQLite says when the file cannot be opened.
    init(
        path: String, _ configuration: Configuration, due: Int = Checkpointer.due,
        largestLog: Int = Checkpointer.largestLog
    ) throws {
        (self.due, self.largestLog) = (due, largestLog)
        var configuration = configuration
        configuration.label = "martlet.checkpoint"
        queue = try DatabaseQueue(path: path, configuration: configuration)
        // Before a page is overwritten in the file, the log that holds it is on the disk, and the file before the log is reused.
        try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
    }

    /// Follows the commits of a connection, which from now on never copies the log by itself. This must outlive it.
    func follow(_ db: Database) throws {
        // After a reset the log's file keeps this size, so that commits need not make it larger again and again.
        try db.execute(sql: "PRAGMA journal_size_limit = \(largestLog * 4096)")
        let context = Unmanaged.passUnretained(self).toOpaque()
        // SQLite's own checkpoints are such a hook too, and this one takes their place (sqlite.org/c3ref/wal_hook.html).
        sqlite3_wal_hook(
            db.sqliteConnection,
            { context, _, _, pages in
                if let context {
                    Unmanaged<Checkpointer>.fromOpaque(context).takeUnretainedValue().committed(pages: Int(pages))
                }
                return SQLITE_OK
            }, context)
    }

    /// Tells of a commit, after which the log has so many pages. Returns at once.
    private func committed(pages: Int) {
        let isDue = state.withLock { state in
            if pages < state.figures.pages { (state.looked, state.refused) = (0, 0) }
            state.figures.pages = pages
            state.figures.largest = max(state.figures.largest, pages)
            guard !state.isBusy, !mustRelieve(state), pages - state.looked >= due || pages >= 4 * due else {
                return false
            }
            (state.isBusy, state.looked) = (true, pages)
            return true
        }
        if isDue { queue.asyncWriteWithoutTransaction { [self] db in copy(db) } }
    }

    private func copy(_ db: Database) {
        let start = ContinuousClock.now
        // It fails where the writer is just telling how long the log is, and on a full disk; who writes is told of that.
        let isCopied = (try? db.checkpoint(.passive)) != nil
        let taken = ContinuousClock.now - start
        state.withLock { state in
            state.isBusy = false
            state.figures.checkpoints += 1
            state.figures.longest = max(state.figures.longest, taken)
            if !isCopied { (state.looked, state.figures.failed) = (0, state.figures.failed + 1) }
        }
    }

    private func mustRelieve(_ state: State) -> Bool {
        state.figures.pages >= max(largestLog, state.refused == 0 ? 0 : state.refused + due)
    }

    /// Begins the log anew where it has grown too long. The writer calls it between two transactions.
    /// - Parameter db: The writer's connection.
    func relieve(_ db: Database) {
        let isNow = state.withLock { state in
            guard !state.isBusy, mustRelieve(state) else { return false }
            state.isBusy = true
            return true
        }
        guard isNow else { return }
        // Who reads what the log alone has is not waited for.
        try? db.execute(sql: "PRAGMA busy_timeout = 0")
        let isAnew = (try? db.checkpoint(.restart)) != nil
        try? db.execute(sql: "PRAGMA busy_timeout = \(Store.busyTimeout.components.seconds * 1000)")
        state.withLock { state in
            state.isBusy = false
            if isAnew {
                (state.looked, state.refused, state.figures.pages) = (0, 0, 0)
                state.figures.relieved += 1
            } else {
                (state.refused, state.figures.failed) = (state.figures.pages, state.figures.failed + 1)
            }
        }
    }

    /// Ends after what was begun. The last connection that closes copies what is left, and removes the log.
    func close() throws { try queue.close() }
}
