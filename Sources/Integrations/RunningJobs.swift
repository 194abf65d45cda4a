import Model
import Storage
import Synchronization

/// The slots of jobs that run, by attempt. A job has its slot for as long as it runs, also when nobody brings it for a while: a daemon before
/// this one started it, or the store cannot take what became of it.
final class RunningJobs: Sendable {
    private let slots: JobSlots
    private let claims: Mutex<[AttemptID: JobSlots.Claim]> = Mutex([:])
    /// Whose attempts a daemon before this one started.
    private let left: Mutex<Set<IntegrationID>> = Mutex([])

    init(slots: JobSlots) { self.slots = slots }

    /// The attempt has the slot that was taken for it.
    func begin(_ attempt: AttemptID, _ claim: JobSlots.Claim) { claims.withLock { $0[attempt] = claim } }

    /// The attempt runs already: it has a slot from now on, whether one is free or not.
    func takeUp(_ attempt: AttemptID, _ claim: JobSlots.Claim) {
        let isNew = claims.withLock { $0.updateValue(claim, forKey: attempt) == nil }
        if isNew { slots.occupy(claim) }
    }

    /// Gives its slot back, if it has one.
    func end(_ attempt: AttemptID) {
        if let claim = claims.withLock({ $0.removeValue(forKey: attempt) }) { slots.give(claim) }
    }

    /// Notes an integration of which a daemon before this one left attempts that are not at their end.
    func noteLeft(_ id: IntegrationID) { left.withLock { _ = $0.insert(id) } }

    /// Whether an integration was noted so, and not forgotten since.
    func isLeft(_ id: IntegrationID) -> Bool { left.withLock { $0.contains(id) } }

    /// All its attempts are at their end.
    func forgetLeft(_ id: IntegrationID) { left.withLock { _ = $0.remove(id) } }
}
