import Basics
import Dispatch
import Synchronization

/// Threads on which answers are computed that take more than a moment, so that they hold up neither the connections' threads nor the
/// cooperative pool.
///
/// There are as many as `WebLimits` lets answers be computed at the same time.
final class ComputingThreads: TaskExecutor {
    /// From the last answer to when free memory is given back: at most so often other threads' allocations wait for it.
    private static let idleTime = DispatchTimeInterval.seconds(2)

    private let queue = DispatchQueue(label: "martlet.answers", attributes: .concurrent)
    private let givesBack = Atomic<Bool>(false)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Gives the kernel back, in a while, what many small pieces of memory took.
    func giveBackMemory() {
        guard !givesBack.exchange(true, ordering: .relaxed) else { return }
        queue.asyncAfter(deadline: .now() + Self.idleTime) {
            self.givesBack.store(false, ordering: .relaxed)
            GivenBackMemory.trim()
        }
    }
}
