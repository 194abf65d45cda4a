import Model
import Synchronization

/// Lists of integrations as they were read last, until something is stored: who asks for the same again is answered without a way
/// to a reader's thread and back, each of which can wait for a processor behind a job's process. All who watch are told of a change at once
/// and ask for the same list; all but the first find it here.
///
/// It is right because nobody else writes the file: a state directory has one daemon. What somebody changes there by hand (sqlite3(1)) is shown
/// after the daemon's next commit.
final class ListMemory: Sendable {
    struct Key: Hashable {
        var filter: IntegrationFilter
        var limit: Int
        var cursor: Int64?
    }

    /// Lists that are kept: with `maximumLimit` 400 records, mostly of some hundred bytes, each text of which is cut at `Store.maximumTextBytes`.
    static let maximumLists = 8
    /// A longer list is read each time it is asked for.
    static let maximumLimit = 50

    private struct State {
        /// How often something was stored.
        var generation = 0
        var lists: [Key: Page<IntegrationOutline>] = [:]
    }

    private let state = Mutex(State())

    /// Calls `read` where the list is not here.
    func list(
        _ key: Key, read: () async throws(StoreError) -> Page<IntegrationOutline>
    ) async throws(StoreError) -> Page<IntegrationOutline> {
        let (known, generation) = state.withLock { ($0.lists[key], $0.generation) }
        if let known { return known }
        let list = try await read()
        if key.limit <= Self.maximumLimit { keep(list, as: key, ofGeneration: generation) }
        return list
    }

    /// Forgets all. Called when something is stored, before anybody hears of it.
    func forget() {
        state.withLock { state in
            state.generation += 1
            state.lists = [:]
        }
    }

    /// What was read while something was stored can be of before or after; nobody knows, so it is not kept.
    private func keep(_ list: Page<IntegrationOutline>, as key: Key, ofGeneration generation: Int) {
        state.withLock { state in
            guard state.generation == generation, state.lists.count < Self.maximumLists else { return }
            state.lists[key] = list
        }
    }
}
