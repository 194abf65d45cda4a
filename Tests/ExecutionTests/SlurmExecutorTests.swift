import Basics
import Foundation
import Glibc
import JobProtocol
import Model
import TestSupport
import Testing

@testable import Execution

/// Real jobs on a real Slurm on loopback.
@Suite(
    .enabled("slurm-wlm, slurmctld, slurmd, slurm-client and munge are not installed, or this is not root") {
        SlurmCluster.isPossible
    })
struct SlurmExecutorTests {
    private struct Fixture: Sendable {
        let cluster: SlurmCluster
        let launched: Launched
        let executor: SlurmExecutor
        let attempt: AttemptDirectory

        func isWaiting() async throws -> Bool {
            guard case .waiting(let reason) = try await executor.liveness(of: attempt) else { return false }
            return ["Resources", "Priority"].contains(reason)
        }

        func last() async throws -> StatusEvent? {
            var last: StatusEvent?
            for try await event in AttemptFollower(executor: executor).events(of: attempt) { last = event }
            return last
        }

        /// The numbers of the jobs of the attempt.
        func numbers() async throws -> [String] {
            let name = SlurmExecutor.jobName(of: attempt)
            return try await cluster.run("squeue", "-h", "-t", "all", "-o", "%A|%T", "--name=\(name)").stdout
                .split(separator: "\n").map(String.init)
        }
    }

    private func with(
        _ script: String, longestWait: Duration = .seconds(86_400), _ body: (Fixture) async throws -> Void
    ) async throws {
        try await withLaunched { launched in
            try await SlurmCluster.with(in: launched.directory) { cluster in
                let attempt = launched.attempt()
                try attempt.prepare(launched.job(script))
                let executor = cluster.executor(launched.supervisor, longestWait: longestWait)
                try await body(Fixture(cluster: cluster, launched: launched, executor: executor, attempt: attempt))
            }
        }
    }

    @Test(
        .proves(
            .jobs, "A job that waits at a cluster is a state with Slurm's reason, and ends at once when it is canceled")
    )
    func testThatAJobThatWaitsHasSlurmsReasonAndNeverRunsOnceCanceled() async throws {
        try await with("echo run >> ran") { fixture in
            // given
            try await fixture.cluster.fill()
            try await fixture.executor.start(fixture.attempt, secrets: [:])
            try await until("it waits") { try await fixture.isWaiting() }
            // when
            try await fixture.executor.cancel(fixture.attempt, reason: "superseded", grace: .seconds(1))
            // then
            #expect(try await fixture.executor.liveness(of: fixture.attempt) == .finished)
            guard case .finished(_, .canceled, "superseded", _, _) = try await fixture.last() else {
                Issue.record("it is not canceled: \(try fixture.attempt.status())")
                return
            }
            try await fixture.cluster.free()
            try await until("it is gone") { try await fixture.numbers().allSatisfy { $0.hasSuffix("|CANCELLED") } }
            #expect(access(fixture.launched.workspace + "/ran", F_OK) != 0)
        }
    }

    @Test(
        .proves(
            .jobs,
            "While the controller of a cluster is away, running jobs go on, new ones wait, and nothing is submitted twice"
        ))
    func testThatARunningJobGoesOnWithoutAController() async throws {
        try await with("touch begun; while [ ! -e go ]; do sleep 0.05; done; echo run >> ran") { fixture in
            // given
            try await fixture.executor.start(fixture.attempt, secrets: [:])
            await fixture.launched.waitFor("begun")
            // when
            await fixture.cluster.killController()
            // then
            #expect(try await fixture.executor.liveness(of: fixture.attempt) == .running)
            try Directory(opening: fixture.launched.workspace).write("go", bytes: [])
            guard case .finished(_, .completed, _, _, _) = try await fixture.last() else {
                Issue.record("it has not completed: \(try fixture.attempt.status())")
                return
            }
            // and when
            let other = fixture.launched.attempt("other")
            try other.prepare(fixture.launched.job("true"))
            // then
            await expectRejection(ExecutionError.self, \.code, .noLauncher) {
                try await fixture.executor.start(other, secrets: [:])
            }
            #expect(try await fixture.executor.liveness(of: other) == .notStarted)
        }
    }

    @Test(.proves(.jobs, "A job that the controller of a cluster has lost is handed to it again, and runs once"))
    func testThatAJobThatTheControllerHasLostIsHandedToItAgain() async throws {
        try await with("echo run >> ran") { fixture in
            // given
            try await fixture.cluster.fill()
            try await fixture.executor.start(fixture.attempt, secrets: [:])
            try await until("it waits") { try await fixture.isWaiting() }
            // when
            await fixture.cluster.killController()
            try await fixture.cluster.startController(forgetting: true)
            // then
            let last = try await fixture.last()
            guard case .finished(_, .completed, _, _, _) = last else {
                Issue.record("it has not completed: \(try fixture.attempt.status())")
                return
            }
            #expect(try fixture.launched.directory.text("workspace/ran") == "run\n")
        }
    }

    @Test(.proves(.jobs, "A job of one attempt that is submitted twice runs once"))
    func testThatTwoJobsOfOneAttemptRunItOnce() async throws {
        try await with("echo run >> ran; sleep 0.3") { fixture in
            // given
            let name = SlurmExecutor.jobName(of: fixture.attempt)
            // when
            try await fixture.executor.submit(fixture.attempt, name)
            try await fixture.executor.submit(fixture.attempt, name)
            // then
            _ = try await fixture.last()
            try await until("both jobs have ended") {
                let jobs = try await fixture.numbers()
                return jobs.count == 2 && jobs.allSatisfy { $0.hasSuffix("COMPLETED") || $0.hasSuffix("FAILED") }
            }
            #expect(try fixture.launched.directory.text("workspace/ran") == "run\n")
        }
    }

    @Test(.proves(.jobs, "A lost node: the reason of the lost attempt names it"))
    func testThatTheReasonOfALossNamesTheNode() async throws {
        try await with("touch begun; sleep 1000") { fixture in
            // given
            try await fixture.executor.start(fixture.attempt, secrets: [:])
            await fixture.launched.waitFor("begun")
            let owner = try #require(fixture.launched.lockOwner(fixture.attempt.paths.lock))
            // when
            fixture.launched.kill(owner, SIGKILL)
            // then
            try await until("it is lost") { try await fixture.executor.liveness(of: fixture.attempt) == .lost }
            let ending = await fixture.executor.ending(of: fixture.attempt)
            #expect(["n1", "n2"].contains(owner.host))
            #expect(ending?.sentence.contains(owner.host ?? "?") == true)
            #expect(ending?.isLimit == false)
        }
    }

    @Test(.proves(.badInput, "A job that Slurm ends before it begins is lost with Slurm's word, and never begins"))
    func testThatAJobThatSlurmEndsBeforeItBeginsIsLostWithItsWord() async throws {
        try await with("echo run >> ran") { fixture in
            // given
            try await fixture.cluster.fill()
            try await fixture.executor.start(fixture.attempt, secrets: [:])
            try await until("it waits") { try await fixture.isWaiting() }
            // when
            _ = try await fixture.cluster.run(
                "scancel", "--me", "--jobname=\(SlurmExecutor.jobName(of: fixture.attempt))")
            // then
            await expectRejection(ExecutionError.self, \.code, .lost) { _ = try await fixture.last() }
            let ending = await fixture.executor.ending(of: fixture.attempt)
            #expect(ending?.sentence.contains("CANCELLED") == true && ending?.isLimit == false)
            #expect(try !fixture.attempt.claim())
        }
    }

    @Test(.proves(.jobs, "A job may wait at a cluster for a limited time"))
    func testThatAJobThatWaitsTooLongEndsWithTheReason() async throws {
        try await with("echo run >> ran", longestWait: .zero) { fixture in
            // given
            try await fixture.cluster.fill()
            // when
            try await fixture.executor.start(fixture.attempt, secrets: [:])
            // then
            guard case .finished(_, .faulty, let reason, _, _) = try await fixture.last() else {
                Issue.record("it has not ended: \(try fixture.attempt.status())")
                return
            }
            #expect(reason?.contains("has waited") == true && reason?.contains("cluster") == true)
        }
    }
}
