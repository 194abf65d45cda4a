import GRDB

/// What a write closure works with: the connection, and the changes to tell of once the commit is on disk.
///
/// It is used on the writer's queue alone and lives until the commit.
final class StoreTransaction {
    let db: Database
    private(set) var changes: [StoreChange] = []

    init(_ db: Database) { self.db = db }

    /// The changes of state that are stored, by name; kept in debug builds alone, for `Failpoint`.
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
