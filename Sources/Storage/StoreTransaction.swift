import GRDB

/// What a write closure works with: the connection, and the changes to tell of once the commit is on disk.
///
/// It is used on the writer's queue alone and lives as long as the closure's call.
final class StoreTransaction {
    let db: Database
    private(set) var changes: [StoreChange] = []

    init(_ db: Database) { self.db = db }

    func changed(_ change: StoreChange) {
        if changes.last != change { changes.append(change) }
    }
}
