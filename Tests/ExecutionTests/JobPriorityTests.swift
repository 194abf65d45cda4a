import Execution
import Glibc
import JobProtocol
import TestSupport
import Testing

/// The daemon has priority over jobs, because users wait for its answers.
@Suite(
    .proves(
        .jobs,
        "Jobs give way to the daemon and have a fair part beside other work: a niceness of 1, and one group that weighs as much on each processor"
    ))
struct JobPriorityTests {
    @Test(arguments: Launched.sandboxes) func testThatAStepIsNicerThanWhoStartedIt(isSandboxed: Bool) async throws {
        try await withLaunched { launched in
            // given
            let own = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)
            // when
            let end = try await launched.run(isSandboxed ? launched.sandboxed("nice") : launched.job("nice"))
            // then
            #expect(end.log == "\(min(19, own + 1))\n")
        }
    }

    /// One group for the jobs of all launchers. On each processor it weighs as much as one process of the jobs' niceness, 820 of 1,024.
    @Test(.processorGroups) func testThatAllJobsTogetherHaveAFairPartOfEachProcessor() async throws {
        try await withLaunched { launched in
            // when
            let end = try await launched.run(launched.job("nproc; cat /proc/self/cgroup"))
            // then
            let processors = try #require(end.log.split(separator: "\n").first.flatMap { Int($0) })
            let group = try #require(ProcessorGroups.path(in: end.log))
            #expect(group.hasSuffix("/martlet-jobs"))
            let shares = SmallFile.read("\(ProcessorGroups.mount)\(group)/cpu.shares", limit: 64) ?? []
            #expect(String(decoding: shares, as: UTF8.self) == "\(min(820 * processors, 1 << 18))\n")
        }
    }
}

/// The processors' control groups of version 1.
private enum ProcessorGroups {
    static let mount = "/sys/fs/cgroup/cpu"

    /// - Parameter text: The contents of /proc/PID/cgroup: lines `4:cpu,cpuacct:/path`.
    static func path(in text: String) -> String? {
        text.split(separator: "\n").map { $0.split(separator: ":", maxSplits: 2) }
            .first { $0.count == 3 && $0[1].split(separator: ",").contains("cpu") }.map { String($0[2]) }
    }

    static let areOurs: Bool = {
        let own = String(decoding: SmallFile.read("/proc/self/cgroup", limit: 8192) ?? [], as: UTF8.self)
        guard let path = path(in: own) else { return false }
        return access("\(mount)\(path)/cpu.shares", W_OK) == 0
    }()
}

extension Trait where Self == ConditionTrait {
    fileprivate static var processorGroups: Self {
        .enabled(if: ProcessorGroups.areOurs, "no processors' groups of version 1 that are ours")
    }
}
