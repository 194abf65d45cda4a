package import Model
import Synchronization

/// Slots that were free when an integration began, for its first jobs: those are stored as begun with it, and not once more.
package final class HeldSlots: Sendable {
    private let slots: JobSlots
    private let claim: JobSlots.Claim
    private let jobs: Mutex<Set<Name>>

    /// Holds a slot for as many of the jobs as are free now, the first ones first.
    /// - Parameter bot: Whose jobs they are; as of `JobSlots.Claim`.
    package init(of slots: JobSlots, for jobs: [Name], of bot: Name? = nil) {
        let claim = JobSlots.Claim(bot: bot)
        (self.slots, self.claim) = (slots, claim)
        self.jobs = Mutex(Set(jobs.prefix { _ in slots.takeFree(claim) }))
    }

    /// The jobs that have a slot here.
    package var held: Set<Name> { jobs.withLock { $0 } }

    /// Hands a job its slot, once; whoever takes it gives it back to the slots themselves.
    /// - Returns: Whether there was one.
    package func take(_ job: Name) -> Bool { jobs.withLock { $0.remove(job) != nil } }

    /// Gives back what was not taken.
    package func giveBack() {
        let left = jobs.withLock { jobs in
            defer { jobs = [] }
            return jobs.count
        }
        for _ in 0..<left { slots.give(claim) }
    }
}
