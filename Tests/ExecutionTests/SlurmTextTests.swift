import Glibc
import JobProtocol
import Model
import TestSupport
import Testing

@testable import Execution

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

    @Test func testThatOfTwoJobsOfOneAttemptTheOneThatRanSpeaks() {
        for (one, other, expected) in [
            ("8|CANCELLED|None||martlet-a", "7|TIMEOUT|None|n1|martlet-a", "TIMEOUT"),
            ("8|FAILED|NonZeroExitCode|n2|martlet-a", "7|OUT_OF_MEMORY|None|n1|martlet-a", "OUT_OF_MEMORY"),
            ("8|FAILED|NonZeroExitCode|n2|martlet-a", "7|COMPLETED|None|n1|martlet-a", "COMPLETED"),
            ("8|PENDING|Resources||martlet-a", "7|RUNNING|None|n1|martlet-a", "RUNNING"),
        ] {
            #expect(SlurmJob.jobs(in: "\(one)\n\(other)\n")["martlet-a"]?.state == expected)
            #expect(SlurmJob.jobs(in: "\(other)\n\(one)\n")["martlet-a"]?.state == expected)
        }
    }

    @Test(.proves(.badInput, "A job of a partition that is down waits with a sentence"))
    func testThatAPartitionThatIsDownIsExplained() throws {
        let shut = try #require(SlurmJob(line: "1|PENDING|PartitionDown||martlet-a"))
        #expect(
            shut.waitingReason
                == "PartitionDown: the partition starts no jobs; `scontrol update PartitionName=NAME State=UP` opens it"
        )
        #expect(SlurmJob(line: "1|PENDING|Resources||martlet-a")?.waitingReason == "Resources")
        let drained = try #require(SlurmJob(line: "1|PENDING|ReqNodeNotAvail, UnavailableNodes:n2||martlet-a"))
        #expect(
            drained.waitingReason.hasPrefix("ReqNodeNotAvail, UnavailableNodes:n2: the nodes that have what it needs"))
        #expect(SlurmJob(line: "1|PENDING|None||martlet-a")?.waitingReason == "Pending")
    }

    @Test func testThatNodesAndTheStateOfTheirPartitionAreRead() {
        let output = "n1|idle|up|main*|none\nn2|drained|up|main*|disk a|b is full\nn1|idle|down|closed|none\n"
        let own = SlurmExecutor.nodes(in: output, isDefault: true)
        #expect(own.isOpen && own.nodes.map(\.name) == ["n1", "n2"])
        #expect(own.nodes.map(\.isUnavailable) == [false, true])
        #expect(own.nodes.map(\.condition) == ["idle", "drained (disk a|b is full)"])
        #expect(!SlurmExecutor.nodes(in: output, isDefault: false).isOpen)
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

    @Test(.proves(.badInput, "A node's clock that is an hour off is named in the reason of its jobs"))
    func testThatAClockIsComparedWithTheSharedFileSystem() async throws {
        try await withTemporaryDirectory { temporary in
            // given
            let attempt = AttemptDirectory(path: temporary.path("attempt"))
            try attempt.make()
            #expect(attempt.clockLead() == nil)
            #expect(try attempt.claim())
            // when
            var times = [timeval(tv_sec: 1000, tv_usec: 0), timeval(tv_sec: 1000, tv_usec: 0)]
            utimes(attempt.paths.node, &times)
            // then
            #expect((attempt.clockLead() ?? 0) > 3600)
            try attempt.recordNodeNotes(["one", "two"])
            #expect(attempt.nodeNotes() == ["one", "two"])
        }
    }

    @Test(.proves(.badInput, "A node with another version gives the attempt up, and one new attempt follows"))
    func testThatAnAttemptThatIsGivenUpIsLostWithItsReason() async throws {
        try await withTemporaryDirectory { temporary in
            // given
            let attempt = AttemptDirectory(path: temporary.path("attempt"))
            try attempt.make()
            let executor = SlurmExecutor(.init(name: Name(nearest: "cluster"), command: ["/bin/false"]))
            #expect(try attempt.claim())
            // when
            try attempt.giveUp("n2 has Martlet 9.9.9\nand more")
            // then
            #expect(try await executor.liveness(of: attempt) == .lost)
            let ending = await executor.ending(of: attempt)
            #expect(ending == ExecutorEnding(isLimit: false, sentence: "n2 has Martlet 9.9.9 and more"))
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
