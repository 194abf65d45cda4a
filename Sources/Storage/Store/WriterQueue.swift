import Basics
import GRDB
import Model
import Synchronization

/// The serial queue for all writes. It joins waiting writes into one transaction.
///
/// Each write has a savepoint of its own, so a failing one changes no row and does not affect the others. A caller continues only after the commit is
/// on disk. The writes run on GRDB's writer queue, never on the cooperative pool. While one commit waits for the disk, the next writes gather. A
/// hundred writers therefore cost a few `fsync`s instead of a hundred.
final class WriterQueue: Sendable {
    /// The time after which a transaction accepts no further write; the rest goes into the next one. The largest single write is a batch of results
    /// (`Store.batchTime`). With one more of them, no transaction has more than 3.5 ms of work before its commit.
    static let joiningTime: Duration = .milliseconds(2)

    private struct Queue {
        var waiting: [any WaitingWrite] = []
        var isDraining = false
        var figures = WriterFigures()
        var trouble: StoreError?
    }

    /// The statistics since the store was opened.
    var figures: WriterFigures { queue.withLock { $0.figures } }

    /// The error of the last commit, if it may pass (`StoreError.isPassing`); `nil` if the last commit succeeded.
    var trouble: StoreError? { queue.withLock { $0.trouble } }

    private let queue = Mutex(Queue())
    private let pool: DatabasePool
    private let broadcast: ChangeBroadcast
    private let joiningTime: Duration

    init(
        pool: DatabasePool, broadcast: ChangeBroadcast, joiningTime: Duration = WriterQueue.joiningTime
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
                if let error = write.failure, error.isPassing { queue.withLock { $0.trouble = error } }
                // Disk full and I/O errors can make SQLite roll back the whole transaction (sqlite.org/lang_transaction.html).
                if !db.isInsideTransaction { throw Refusal(code: .io, message: "the transaction was rolled back") }
            }
            for name in stored.flatMap(\.transitions) { Failpoint.pass(name, .before) }
            beforeCommit = .now
            try db.commit()
            for name in stored.flatMap(\.transitions) { Failpoint.pass(name, .after) }
        } catch {
            rollBack(db)
            let trouble = StoreError(error, operation: "store a change")
            if trouble.isPassing { queue.withLock { $0.trouble = trouble } }
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
        queue.withLock { queue in
            queue.figures.add(held: end - start, commit: end - beforeCommit)
            // A commit without a change says nothing about the disk.
            if !stored.isEmpty, !joined.contains(where: { $0.failure?.isPassing == true }) { queue.trouble = nil }
        }
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

/// A write that waits for the writer, without its value's type.
protocol WaitingWrite: Sendable {
    /// Runs the closure in a savepoint of the open transaction and stores its outcome. It may be called again if that transaction was rolled back.
    /// - Returns: The stored changes, to be published after the commit; `nil` if the closure failed.
    func perform(in db: Database) -> StoreTransaction?
    /// The error of the closure; `nil` if it succeeded.
    var failure: StoreError? { get }
    /// Resumes the caller with the outcome; with `failure` instead if the stored rows were rolled back.
    func resume(failure: (any Error)?)
}

/// A write closure together with the caller that waits for it.
final class PendingWrite<Value: Sendable>: WaitingWrite {
    typealias Outcome = Result<Value, StoreError>
    private let operation: String
    private let body: @Sendable (StoreTransaction) throws -> Value
    private let continuation: CheckedContinuation<Outcome, Never>
    private let outcome = Mutex<Outcome?>(nil)
    /// Whether the caller answers a request. If so, the writer runs the closure as an answering thread, too.
    private let isAnswer = AnsweringThread.isCurrent

    init(
        operation: String, body: @escaping @Sendable (StoreTransaction) throws -> Value,
        continuation: CheckedContinuation<Outcome, Never>
    ) {
        self.operation = operation
        self.body = body
        self.continuation = continuation
    }

    func perform(in db: Database) -> StoreTransaction? {
        let transaction = StoreTransaction(db)
        do {
            var value: Value?
            try db.inSavepoint {
                value = try AnsweringThread.working(isAnswer: isAnswer) { () throws in
                    Failpoint.trap("write \(operation)")
                    return try body(transaction)
                }
                return .commit
            }
            outcome.withLock { [value] in $0 = value.map { .success($0) } }
            return transaction
        } catch {
            outcome.withLock { $0 = .failure(StoreError(error, operation: operation)) }
            return nil
        }
    }

    var failure: StoreError? {
        outcome.withLock { outcome in
            if case .failure(let error) = outcome { error } else { nil }
        }
    }

    func resume(failure: (any Error)?) {
        let stored = outcome.withLock { $0 }
        switch (stored, failure) {
        case (.failure(let error), _): continuation.resume(returning: .failure(error))
        case (_, let failure?):
            continuation.resume(returning: .failure(StoreError(failure, operation: operation)))
        case (.success(let value), nil): continuation.resume(returning: .success(value))
        case (nil, nil):
            continuation.resume(
                returning: .failure(StoreError(Refusal(code: .closed, message: "it was not run"), operation: operation))
            )
        }
    }
}

/// The context of a write closure: the connection, and the changes to publish once the commit is on disk.
///
/// It is used only on the writer's queue and lives until the commit.
final class StoreTransaction {
    let db: Database
    private(set) var changes: [StoreChange] = []

    init(_ db: Database) { self.db = db }

    /// The names of the stored state changes. They are kept only in debug builds, for `Failpoint`.
    private(set) var transitions: [String] = []

    func passes(_ transition: @autoclosure () -> String) {
        #if DEBUG
            transitions.append(transition())
        #endif
    }

    func changed(_ change: StoreChange) {
        if changes.last != change { changes.append(change) }
    }
}

/// Statistics about how long transactions held the writer, from their beginning until they were on disk.
package struct WriterFigures: Hashable, Sendable {
    package private(set) var transactions = 0
    /// The number of transactions that took longer than 5 ms.
    package private(set) var long = 0
    /// The number of transactions whose commit alone took longer than 5 ms: the disk's time for a sync, or for copying the log into the database.
    package private(set) var longCommits = 0
    package private(set) var longest: Duration = .zero
    package private(set) var longestCommit: Duration = .zero
    /// The number of transactions by duration, in steps of 0.25 ms. The last element counts those of 100 ms and longer.
    private var quarters = Array(repeating: 0, count: 401)

    /// The duration that few transactions should exceed: answers to webhooks wait for the writer.
    static let goal: Duration = .milliseconds(5)

    mutating func add(held: Duration, commit: Duration) {
        transactions += 1
        longest = max(longest, held)
        longestCommit = max(longestCommit, commit)
        if held > Self.goal { long += 1 }
        if commit > Self.goal { longCommits += 1 }
        quarters[min(quarters.count - 1, Int(held / .microseconds(250)))] += 1
    }

    /// Returns the duration that this share of the transactions did not exceed. It is rounded up to a multiple of 0.25 ms, and is at most 100.25 ms.
    /// - Parameter share: The share, from 0 to 1.
    package func held(_ share: Double) -> Duration {
        var rest = Int(clamping: (Double(transactions) * share).rounded(.up))
        for (index, count) in quarters.enumerated() {
            rest -= count
            if rest <= 0 { return min(longest, .microseconds(250 * (index + 1))) }
        }
        return longest
    }
}
