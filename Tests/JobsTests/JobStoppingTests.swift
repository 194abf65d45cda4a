import Basics
import Execution
import Logging
import TestSupport
import Testing

@testable import Jobs

@Suite(
    .proves(.jobs, "A cancellation request that cannot be written, as on a full disk, is written as soon as possible"))
struct JobStoppingTests {
    /// An executor that cannot write a cancellation request until the test permits it.
    private final class FullExecutor: Executor {
        let isFull = Locked(true)
        let tries = Locked(0)
        let written = Locked<[String]>([])

        func start(_ attempt: AttemptDirectory, secrets: [String: String]) async throws(ExecutionError) {}

        func liveness(of attempt: AttemptDirectory) async throws(ExecutionError) -> Liveness { .running }

        func cancel(_ attempt: AttemptDirectory, reason: String, grace: Duration) async throws(ExecutionError) {
            tries.withLock { $0 += 1 }
            if isFull.value { throw ExecutionError(.directory, "cancel", "no space left on device") }
            written.withLock { $0.append("\(reason) \(grace)") }
        }
    }

    @Test func testThatACancellationRequestThatCannotBeWrittenIsWrittenAsSoonAsItCan() async {
        // given
        let (executor, clock, cancellation) = (FullExecutor(), ManualClock(), Cancellation())
        let launcher = JobLauncher(executor: executor, timer: clock, logger: Logger(label: "test"))
        let stopping = JobStopping(AttemptDirectory(path: "/nowhere"), launcher, cancellation)
        await cancellation.whileCancellable(stop: { await stopping.ask($0) }) {
            // when: no caller waits for the tries
            await cancellation.request(Cancellation.Request(reason: "superseded"))
            await until("it waits to try again") { clock.sleeperCount == 1 }
            clock.advance(by: .seconds(1))
            await until("the second try has failed") { executor.tries.value == 2 && clock.sleeperCount == 1 }
            executor.isFull.withLock { $0 = false }
            clock.advance(by: .seconds(2))

            // then
            await until("it is written") { executor.written.value == ["superseded \(Duration.seconds(10))"] }
        }
        stopping.end()
    }

    @Test func testThatNothingIsAskedOfAJobThatIsFollowedNoMore() async {
        // given
        let (executor, clock, cancellation) = (FullExecutor(), ManualClock(), Cancellation())
        let launcher = JobLauncher(executor: executor, timer: clock, logger: Logger(label: "test"))
        let stopping = JobStopping(AttemptDirectory(path: "/nowhere"), launcher, cancellation)
        await cancellation.whileCancellable(stop: { await stopping.ask($0) }) {
            await cancellation.request(Cancellation.Request(reason: "enough"))
            await until("it waits to try again") { clock.sleeperCount == 1 }
        }
        // when
        stopping.end()
        // then
        await until("it waits no more") { clock.sleeperCount == 0 }
        #expect(executor.tries.value == 1)
    }
}
