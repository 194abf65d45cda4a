import JobProtocol
import Model
import TestSupport
import Testing

@testable import Execution

/// The node with a job's workspace, with a real Slurm on loopback.
@Suite(
    .enabled("slurm-wlm, slurmctld, slurmd, slurm-client and munge are not installed, or this is not root") {
        SlurmCluster.isPossible
    })
struct SlurmWarmNodeTests {
    private func with(
        warmNode: String, isBusy: Bool, _ body: (SlurmCluster, SlurmExecutor, AttemptDirectory) async throws -> Void
    ) async throws {
        try await withLaunched { launched in
            try await SlurmCluster.with(in: launched.directory) { cluster in
                let attempt = launched.attempt()
                try attempt.prepare(launched.job("echo $SLURMD_NODENAME run >> ran"))
                try attempt.place(
                    Placement(executor: Name(nearest: "cluster"), needs: JobNeeds(), warmNode: warmNode))
                if isBusy { try await cluster.fill([warmNode]) }
                try await body(cluster, cluster.executor(launched.supervisor), attempt)
                #expect(try launched.directory.text("workspace/ran").hasSuffix("run\n"))
                #expect(try launched.directory.text("workspace/ran").split(separator: "\n").count == 1)
            }
        }
    }

    private func end(_ executor: SlurmExecutor, _ attempt: AttemptDirectory) async throws {
        var last: StatusEvent?
        for try await event in AttemptFollower(executor: executor).events(of: attempt) { last = event }
        guard case .finished(_, .completed, _, _, _)? = last else {
            Issue.record("it has not completed: \(try attempt.status())")
            return
        }
    }

    private func node(of attempt: AttemptDirectory, _ cluster: SlurmCluster) async throws -> [String] {
        let name = SlurmExecutor.jobName(of: attempt)
        return try await cluster.run("squeue", "-h", "-t", "all", "-o", "%N|%T", "--name=\(name)").stdout
            .split(separator: "\n").map(String.init)
    }

    @Test(.proves(.jobs, "A job on a cluster prefers the node with its warm workspace"))
    func testThatAJobRunsOnTheNodeWithItsWorkspace() async throws {
        try await with(warmNode: "n2", isBusy: false) { cluster, executor, attempt in
            try await executor.start(attempt, secrets: [:])
            try await end(executor, attempt)
            #expect(try await node(of: attempt, cluster).allSatisfy { $0.hasPrefix("n2|") })
        }
    }

    @Test(
        .proves(
            .jobs, "A job waits for the node with its warm workspace for a limited time, then it runs on another, once")
    )
    func testThatAJobGoesElsewhereWhenTheTimeIsOver() async throws {
        try await with(warmNode: "n1", isBusy: true) { cluster, executor, attempt in
            try await executor.start(attempt, secrets: [:])
            try await end(executor, attempt)
            let jobs = try await node(of: attempt, cluster)
            #expect(jobs.contains { $0.hasPrefix("n2|") } && !jobs.contains { $0.hasPrefix("n1|") }, "\(jobs)")
        }
    }

    @Test(.proves(.badInput, "The node with the workspace is gone from the cluster: the job runs on another"))
    func testThatANodeThatIsGoneDelaysNothing() async throws {
        try await with(warmNode: "n9", isBusy: false) { _, executor, attempt in
            try await executor.start(attempt, secrets: [:])
            try await end(executor, attempt)
        }
    }
}
