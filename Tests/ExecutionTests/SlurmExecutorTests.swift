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

/// What needs no Slurm.
@Suite struct SlurmTextTests {
    @Test(
        .proves(
            .jobs,
            "Jobs are handed to Slurm with --no-requeue, named by their attempt, without a secret and without the daemon's environment"
        ))
    func testThatTheArgumentsNameTheAttemptAndHoldNoSecret() {
        // given
        let executor = SlurmExecutor(
            .init(
                name: Name(nearest: "cluster"), partition: "main", account: "ci", options: ["--qos=ci"],
                command: ["/opt/it's/martlet", "node-job", "--attempt"]))
        let attempt = AttemptDirectory(path: "/srv/state/integrations/kit/14/debug/1")
        let needs = JobNeeds(cpus: 8, memory: .gibibytes(16), features: ["arm64", "big"], time: .seconds(61))
        let name = SlurmExecutor.jobName(of: attempt)
        // when
        let arguments = executor.arguments(for: attempt, name, needs)
        // then
        #expect(name.hasPrefix("martlet-kit-14-debug-1-") && name.utf8.count == 39)
        #expect(name != SlurmExecutor.jobName(of: AttemptDirectory(path: "/srv/other/integrations/kit/14/debug/1")))
        for expected in [
            "--no-requeue", "--export=NIL", "--job-name=\(name)", "--comment=\(attempt.path)", "--partition=main",
            "--account=ci", "--cpus-per-task=8", "--mem=16777216K", "--constraint=arm64&big", "--time=2", "--qos=ci",
            "--wrap=exec '/opt/it'\\''s/martlet' 'node-job' '--attempt' '\(attempt.path)'",
        ] { #expect(arguments.contains(expected), "\(expected) in \(arguments)") }
    }

    @Test func testThatJobsAreFoundByNameAndThoseThatLiveFirst() {
        // given
        let output = """
            7|COMPLETED|None|n1|martlet-a
            8|PENDING|Resources||martlet-a
            9|CANCELLED|None|n2|martlet-a
            3|RUNNING|None|n1|martlet-b
            4|RUNNING|None|n1|other
            5|RUNNING|None|n1|martlet-c|d
            no line
            """
        // when
        let jobs = SlurmJob.jobs(in: output)
        // then
        #expect(jobs.keys.sorted() == ["martlet-a", "martlet-b", "martlet-c|d"])
        #expect(jobs["martlet-a"]?.number == 8 && jobs["martlet-a"]?.reason == "Resources")
        #expect(jobs["martlet-a"]?.isPending == true && jobs["martlet-b"]?.node == "n1")
    }

    @Test(
        .proves(
            .jobs, "A limit that Slurm enforced is named in the reason: OUT_OF_MEMORY, TIMEOUT, NODE_FAIL, PREEMPTED"),
        arguments: [
            ("TIMEOUT", true), ("OUT_OF_MEMORY", true), ("DEADLINE", true), ("NODE_FAIL", false), ("PREEMPTED", false),
            ("CANCELLED", false), ("COMPLETED", nil), ("FAILED", nil),
        ] as [(String, Bool?)])
    func testThatAnEndOfSlurmsIsNamed(state: String, isLimit: Bool?) throws {
        // given
        let job = try #require(SlurmJob(line: "1|\(state)|None|n7|martlet-a"))
        // when
        let ending = SlurmExecutor.ending(job)
        // then
        #expect(ending?.isLimit == isLimit)
        if let ending { #expect(ending.sentence.contains(state) && ending.sentence.contains("n7")) }
        #expect(job.hasEnded)
    }

    @Test func testThatNodesAreReadWithTheirFeatures() {
        let machines = SlurmOffers.machines(in: "2|2000|n1,x86_64\n64+|512000+|(null)\nx|1|y\n")
        #expect(
            machines == [
                MachineOffer(cpus: 2, memory: .mebibytes(2000), features: ["n1", "x86_64"]),
                MachineOffer(cpus: 64, memory: .mebibytes(512_000), features: []),
            ])
    }

    @Test(
        .proves(
            .jobs,
            "The machine's own executor knows its processors, memory and features: architecture, distribution, toolchain"
        ))
    func testThatTheMachineKnowsWhatItHas() async {
        let release = "ID=debian\nVERSION_ID=\"12\"\n"
        #expect(LocalMachine.distribution(in: release) == ["debian", "debian-12"])
        #expect(LocalMachine.distribution(in: "NAME=x\n").isEmpty)
        let offer = await LocalMachine.offer(swift: "6.3.1")
        #expect(offer.cpus >= 1 && offer.memory > .mebibytes(64))
        #expect(offer.features.isSuperset(of: ["swift-6", "swift-6.3", "swift-6.3.1"]))
    }
}

/// What tells a process on another machine from one that is gone.
@Suite struct HeartbeatsTests {
    @Test(
        .proves(
            .jobs, "Liveness across machines: a process that changes its heartbeat lives, and one that does not is gone"
        ))
    func testThatOnlyAHeartbeatThatChangesIsFresh() async throws {
        try await withTemporaryDirectory { temporary in
            // given
            let attempt = AttemptDirectory(path: temporary.path("attempt"))
            try attempt.make()
            let (strict, patient) = (Heartbeats(patience: .zero), Heartbeats(patience: .seconds(3600)))
            for heartbeats in [strict, patient] { #expect(await heartbeats.isFresh(attempt)) }
            // when
            let (isFresh, isFreshToPatient) = (await strict.isFresh(attempt), await patient.isFresh(attempt))
            // then
            #expect(!isFresh && isFreshToPatient)
            // and when
            try temporary.write("attempt/heartbeat", "1\n")
            // then
            #expect(await strict.isFresh(attempt))
        }
    }

    @Test(.proves(.jobs, "An attempt on a cluster begins once, by the one process that creates its file"))
    func testThatAnAttemptIsClaimedOnce() async throws {
        try await withTemporaryDirectory { temporary in
            // given
            let attempt = AttemptDirectory(path: temporary.path("attempt"))
            try attempt.make()
            #expect(try attempt.claimant() == nil)
            // when
            let claims = [try attempt.claim(), try attempt.claim(), try attempt.endUnbegun(.canceled, reason: "late")]
            // then
            #expect(claims == [true, false, false])
            #expect(try attempt.claimant() == LockContent.ofThisProcess())
            #expect(try attempt.liveness() == .notStarted)
        }
    }
}
