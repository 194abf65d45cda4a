import Basics
import Execution
import ExecutionSupport
import Glibc
import JobProtocol
import TestSupport
import Testing

/// The contract of all executors. The scripted one is useful for tests only if it behaves as the real ones.
@Suite struct ExecutorContractTests {
    enum Kind: CaseIterable, Sendable {
        case local, scripted, slurm

        /// Those that this machine can try. `SlurmExecutorTests` count as skipped where there is no Slurm.
        static var possible: [Kind] { allCases.filter { $0 != .slurm || SlurmCluster.isPossible } }
    }

    /// An executor, an attempt of one step that prints `hello` and exits with `exit`, or waits, and a way to kill it.
    struct Fixture: Sendable {
        let executor: any Executor
        let attempt: AttemptDirectory
        let lose: @Sendable () -> Void

        /// Waits until the job runs: a cluster starts it a moment after it was handed over.
        func begun() async throws {
            try await until("the job runs") {
                let isRunning = try await executor.liveness(of: attempt) == .running
                // The local executor returns when the first step is being started. A cluster's job still has to come so far.
                return try isRunning && (!(executor is SlurmExecutor) || !attempt.status().isEmpty)
            }
        }

        func events() async throws -> [StatusEvent] {
            var events: [StatusEvent] = []
            for try await event in AttemptFollower(executor: executor).events(of: attempt) { events.append(event) }
            return events
        }
    }

    private func with(_ kind: Kind, exit: Int32? = 0, _ body: (Fixture) async throws -> Void) async throws {
        try await withLaunched { launched in
            let attempt = launched.attempt()
            let script = exit.map { "echo hello; exit \($0)" } ?? "echo hello; sleep 1000"
            try attempt.prepare(launched.job(script))
            switch kind {
            case .local:
                try await body(
                    Fixture(executor: launched.executor, attempt: attempt) {
                        launched.kill(launched.lockOwner(attempt.paths.lock), SIGKILL)
                    })
            case .slurm:
                try await SlurmCluster.with(in: launched.directory) { cluster in
                    try await body(
                        Fixture(executor: cluster.executor(launched.supervisor), attempt: attempt) {
                            launched.kill(launched.lockOwner(attempt.paths.lock), SIGKILL)
                        })
                }
            case .scripted:
                let executor = ScriptedExecutor { _ in
                    exit.map { exit in .init { _, _ in .init(output: "hello\n", exit: exit) } }
                }
                try await body(Fixture(executor: executor, attempt: attempt) { executor.lose(attempt) })
            }
        }
    }

    /// Returns the events without the times and the usage.
    private func words(_ events: [StatusEvent]) -> [String] {
        events.map { event in
            switch event {
            case .started(let step, _): "started \(step)"
            case .ended(let step, _, let exit, _, _, _): "ended \(step) \(exit ?? -1)"
            case .finished(_, let result, let reason, _, let step):
                "finished \(result) \(reason ?? "") \(step.map(String.init) ?? "")"
            }
        }
    }

    @Test(arguments: Kind.possible) func testThatEventsThatAreThereComeTogether(kind: Kind) async throws {
        try await with(kind) { fixture in
            // given
            try await fixture.executor.start(fixture.attempt, secrets: [:])
            let events = try await fixture.events()
            // when
            var batches: [[StatusEvent]] = []
            let follower = AttemptFollower(executor: fixture.executor)
            for try await batch in follower.batches(of: fixture.attempt) { batches.append(batch) }
            // then
            #expect(batches == [events])
        }
    }

    @Test(.proves(.jobs, "The local executor; an isolation that is not known is refused"), arguments: Kind.possible)
    func testThatItRunsAnAttemptToItsEnd(kind: Kind) async throws {
        try await with(kind) { fixture in
            // given
            #expect(try await fixture.executor.liveness(of: fixture.attempt) == .notStarted)
            // when
            try await fixture.executor.start(fixture.attempt, secrets: [:])
            // then
            let events = try await fixture.events()
            expectNoDifference(words(events), ["started 0", "ended 0 0", "finished completed  "])
            #expect(try await fixture.executor.liveness(of: fixture.attempt) == .finished)
            #expect(try fixture.attempt.readLog(from: 0, count: 100) == Array("hello\n".utf8))
            #expect(try fixture.attempt.readIndex().first?.offset == 0)
            #expect(fixture.attempt.logSize == 6)
        }
    }

    @Test(arguments: Kind.possible) func testThatAFailureIsNoError(kind: Kind) async throws {
        try await with(kind, exit: 3) { fixture in
            try await fixture.executor.start(fixture.attempt, secrets: [:])
            let events = try await fixture.events()
            expectNoDifference(
                words(events),
                ["started 0", "ended 0 3", "finished failed script exited with 3 0"])
        }
    }

    @Test(.proves(.jobs, "`martlet-supervisor` as supervisor; launching twice is harmless"), arguments: Kind.possible)
    func testThatLaunchingTwiceIsHarmless(kind: Kind) async throws {
        try await with(kind) { fixture in
            // given
            try await fixture.executor.start(fixture.attempt, secrets: [:])
            let events = try await fixture.events()
            // when
            try await fixture.executor.start(fixture.attempt, secrets: [:])
            // then
            let again = try await fixture.events()
            expectNoDifference(again, events)
        }
    }

    @Test(arguments: Kind.possible) func testThatCancelingEndsItWithTheReason(kind: Kind) async throws {
        try await with(kind, exit: nil) { fixture in
            // given
            try await fixture.executor.start(fixture.attempt, secrets: [:])
            try await fixture.begun()
            // when
            try await fixture.executor.cancel(fixture.attempt, reason: "superseded", grace: .seconds(1))
            // then
            #expect(words(try await fixture.events()).last == "finished canceled superseded 0")
        }
    }

    @Test(
        .proves(
            .jobs,
            "Attempts: a lost one is internal-error, the workspace is made anew, one more is made by itself, also after an upgrade"
        ), arguments: Kind.possible)
    func testThatALostSupervisorIsSaidToBeLost(kind: Kind) async throws {
        try await with(kind, exit: nil) { fixture in
            // given
            try await fixture.executor.start(fixture.attempt, secrets: [:])
            try await fixture.begun()
            // when
            fixture.lose()
            // then
            await #expect { try await fixture.events() } throws: { ($0 as? ExecutionError)?.code == .lost }
            #expect(try await fixture.executor.liveness(of: fixture.attempt) == .lost)
        }
    }

    @Test(
        .proves(
            .jobs,
            "A job that cannot be followed is stopped before its attempt is given up, however long that takes, also if its status cannot be read"
        ), arguments: Kind.possible)
    func testThatAnUnreadableStatusHidesNeitherLifeNorLoss(kind: Kind) async throws {
        try await with(kind, exit: nil) { fixture in
            // given
            try await fixture.executor.start(fixture.attempt, secrets: [:])
            try await fixture.begun()
            // when
            try Directory(opening: fixture.attempt.path).write("status.jsonl", bytes: Array("no event\n".utf8))
            // then
            #expect(try await fixture.executor.liveness(of: fixture.attempt) == .running)
            // and when
            fixture.lose()
            // then
            try await until("it is lost") { try await fixture.executor.liveness(of: fixture.attempt) == .lost }
        }
    }

    @Test(arguments: Kind.possible) func testThatFollowingWhatWasNotStartedIsAnError(kind: Kind) async throws {
        try await with(kind) { fixture in
            await #expect { try await fixture.events() } throws: { ($0 as? ExecutionError)?.code == .notFound }
        }
    }
}
