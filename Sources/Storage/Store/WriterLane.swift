import Basics
import GRDB
import Synchronization

/// The serial queue for all writes. It joins waiting writes into one transaction.
///
/// Each write has a savepoint of its own, so a failing one changes no row and does not affect the others. A caller continues only after the commit is
/// on disk. The writes run on GRDB's writer queue, never on the cooperative pool. While one commit waits for the disk, the next writes gather. A
/// hundred writers therefore cost a few `fsync`s instead of a hundred.
final class WriterLane: Sendable {
    /// The time after which a transaction accepts no further write; the rest goes into the next one. The largest single write is a batch of results
    /// (`Store.batchTime`). With one more of them, no transaction has more than 3.5 ms of work before its commit.
    static let joiningTime: Duration = .milliseconds(2)

    private struct Queue {
        var waiting: [any WaitingWrite] = []
        var isDraining = false
        var figures = WriterFigures()
    }

    /// The statistics since the store was opened.
    var figures: WriterFigures { queue.withLock { $0.figures } }

    private let queue = Mutex(Queue())
    private let pool: DatabasePool
    private let broadcast: ChangeBroadcast
    private let joiningTime: Duration

    init(
        pool: DatabasePool, broadcast: ChangeBroadcast, joiningTime: Duration = WriterLane.joiningTime
    ) {
        self.pool = pool
        self.broadcast = broadcast
        self.joiningTime = joiningTime
    }

    /// Runs `body` in a transaction and returns when it is durable. `body` may run twice if a joined transaction was rolled back, so its only effects
    /// must be on the database. The write of a canceled task is still made, because a canceled integration must be recorded, too.
    func write<Value: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (StoreTransaction) throws -> Value
    ) async throws(StoreError) -> Value {
        try await withCheckedContinuation { continuation in
            enqueue(PendingWrite(operation: operation, body: body, continuation: continuation))
        }.get()
    }

    private func enqueue(_ write: any WaitingWrite) {
        let mustStart = queue.withLock { queue in
            queue.waiting.append(write)
            defer { queue.isDraining = true }
            return !queue.isDraining
        }
        if mustStart { pool.asyncWriteWithoutTransaction { [self] db in drain(db) } }
    }

    private func drain(_ db: Database) {
        while true {
            let writes = queue.withLock { queue in
                defer { queue.waiting = [] }
                if queue.waiting.isEmpty { queue.isDraining = false }
                return queue.waiting
            }
            if writes.isEmpty { return }
            var rest = writes[...]
            while !rest.isEmpty { rest = commitTogether(rest, db) }
        }
    }

    /// Commits as many of the writes as fit into the joining time.
    /// - Returns: The writes that did not fit.
    private func commitTogether(_ writes: ArraySlice<any WaitingWrite>, _ db: Database) -> ArraySlice<any WaitingWrite>
    {
        let start = ContinuousClock.now
        var joined: [any WaitingWrite] = []
        var rest = writes
        var stored: [StoreTransaction] = []
        var beforeCommit = start
        do {
            try db.beginTransaction(.immediate)
            while let write = rest.first, joined.isEmpty || ContinuousClock.now - start < joiningTime {
                rest = rest.dropFirst()
                joined.append(write)
                if let transaction = write.perform(in: db) { stored.append(transaction) }
                // Disk full and I/O errors can make SQLite roll back the whole transaction (sqlite.org/lang_transaction.html).
                if !db.isInsideTransaction { throw Refusal(code: .io, message: "the transaction was rolled back") }
            }
            for name in stored.flatMap(\.transitions) { Failpoint.pass(name, .before) }
            beforeCommit = .now
            try db.commit()
            for name in stored.flatMap(\.transitions) { Failpoint.pass(name, .after) }
        } catch {
            rollBack(db)
            if joined.isEmpty {
                joined = Array(rest.prefix(1))
                rest = rest.dropFirst()
            }
            if joined.count == 1 {
                joined[0].resume(failure: error)
            } else {
                // One write or the disk caused the failure. Each write is repeated alone, so that each caller gets its own result.
                for write in joined { _ = commitTogether([write], db) }
            }
            return rest
        }
        let end = ContinuousClock.now
        queue.withLock { $0.figures.add(held: end - start, commit: end - beforeCommit) }
        broadcast.publish(stored.flatMap(\.changes))
        for write in joined { write.resume(failure: nil) }
        return rest
    }

    private func rollBack(_ db: Database) {
        guard db.isInsideTransaction else { return }
        // The callers get the error that led here. If the rollback fails, too, the next BEGIN reports it.
        try? db.rollback()
    }
}
