import Basics
import Dispatch
import Synchronization

/// Threads that compute all answers except small, fixed ones. Long computations then delay neither the connections' threads nor the cooperative pool.
///
/// There are as many threads as `WebLimits` allows answers to be computed at the same time.
final class ComputingThreads: TaskExecutor {
    /// The delay between the last answer and the release of free memory: other threads' allocations wait for a release, at most this often.
    private static let idleTime = DispatchTimeInterval.seconds(2)

    private let queue = DispatchQueue(label: "martlet.answers", attributes: .concurrent)
    private let givesBack = Atomic<Bool>(false)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Schedules returning the free memory of small allocations to the kernel.
    func releaseMemory() {
        guard !givesBack.exchange(true, ordering: .relaxed) else { return }
        queue.asyncAfter(deadline: .now() + Self.idleTime) {
            self.givesBack.store(false, ordering: .relaxed)
            GivenBackMemory.trim()
        }
    }
}
