import GRDB

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
