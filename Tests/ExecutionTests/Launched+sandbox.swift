import JobProtocol
import TestSupport

extension Launched {
    static let mountedAt = "/martlet/kit"
    /// The arguments of tests that hold with a sandbox and without, as far as they can be tried here.
    static let sandboxes = TestTools.find("bwrap") == nil ? [false] : [false, true]

    /// Returns a sandboxed job of shell commands in the workspace.
    func sandboxed(
        _ scripts: String..., network: JobDescription.Network = .none,
        timeout: Int64 = TestLimits.never(milliseconds: 60_000),
        limits: JobDescription.Limits = .init(graceMilliseconds: 200), readOnly: [String] = [], root: String? = nil,
        sharesNetwork: Bool = false, report: [String] = [], collect: [JobDescription.Collect] = []
    ) -> JobDescription {
        var job = JobDescription(
            steps: scripts.map { script in
                .init(
                    step: "testing", name: "script", arguments: ["sh", "-c", script], timeoutMilliseconds: timeout,
                    report: report, network: network)
            }, environment: ["MARTLET_TEST_CANARY": directory.path], workspace: workspace, mountedAt: Self.mountedAt,
            isolation: .sandbox,
            sandbox: .init(
                root: root, readOnly: readOnly, temporaryBytes: 64 << 20, homeBytes: 16 << 20,
                sharesNetwork: sharesNetwork),
            limits: limits, collect: collect)
        job.limits.graceMilliseconds = min(job.limits.graceMilliseconds, 1000)
        return job
    }

    /// Makes the directory of a job's home, which belongs to the workspace's owner.
    func makeHome() throws -> String {
        let home = try directory.makeDirectory("job-home")
        if user != .own { JobUser.give(home) }
        return home
    }
}
