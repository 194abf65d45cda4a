import Execution
import Model
import Storage
import Synchronization

/// The slots of running jobs, by attempt. A job has its slot as long as it runs, even if it is not followed for a while, because an earlier daemon
/// started it or the store cannot accept its results.
final class RunningJobs: Sendable {
    private let claims: Mutex<[AttemptID: (claim: JobSlots.Claim, slots: JobSlots)]> = Mutex([:])
    /// The integrations whose attempts an earlier daemon started.
    private let left: Mutex<Set<IntegrationID>> = Mutex([])

    /// Records that an attempt has the slot that was taken for it.
    /// - Parameter slots: Those of its executor.
    func begin(_ attempt: AttemptID, _ claim: JobSlots.Claim, of slots: JobSlots) {
        claims.withLock { $0[attempt] = (claim, slots) }
    }

    /// Records that an attempt runs already. It has a slot from now on, whether one is free or not.
    func takeUp(_ attempt: AttemptID, _ claim: JobSlots.Claim, of slots: JobSlots) {
        let isNew = claims.withLock { $0.updateValue((claim, slots), forKey: attempt) == nil }
        if isNew { slots.occupy(claim) }
    }

    /// Releases the attempt's slot, if it has one.
    func end(_ attempt: AttemptID) {
        if let (claim, slots) = claims.withLock({ $0.removeValue(forKey: attempt) }) { slots.release(claim) }
    }

    /// Records an integration with unfinished attempts of an earlier daemon.
    func recordLeft(_ id: IntegrationID) { left.withLock { _ = $0.insert(id) } }

    /// Whether an integration was recorded by `recordLeft` and not removed since.
    func isLeft(_ id: IntegrationID) -> Bool { left.withLock { $0.contains(id) } }

    /// Removes an integration from that record, because all its attempts have ended.
    func forgetLeft(_ id: IntegrationID) { left.withLock { _ = $0.remove(id) } }
}
