import Execution
import Glibc
import JobProtocol
import TestSupport
import Testing

/// A shortage of the machine's memory, which is not the job's limit.
@Suite(
    .proves(
        .jobs,
        "What is the machine's fault is not a step's: a sandbox that cannot be made, memory that the machine has not, a disk that takes no more"
    ), .program("bwrap"), .memoryGroup)
struct MachineMemoryTests {
    /// Runs a test with a launcher in a memory group of its own, which stands for the machine.
    /// - Parameter bytes: The group's memory.
    private func withMachine(
        _ bytes: Int, _ body: (_ machine: String, _ launched: Launched) async throws -> Void
    ) async throws {
        try await MemoryGroup.with("machine-\(bytes)", bytes: bytes) { machine in
            try await withLaunched(isOnDisk: true) { launched in
                #expect(try await launched.run(launched.sandboxed("true"), name: "first").result == .completed)
                let launcher = try #require(launched.lockOwner(launched.socket + ".lock"))
                try await runExpectingSuccess(["sh", "-c", "echo \(launcher.pid) > \(machine)/cgroup.procs"])
                // Supervisors that were started before are in the launcher's earlier group.
                for waiting in ProcessTable.descendants(of: launcher.pid) { kill(waiting.pid, SIGKILL) }
                try await body(machine, launched)
            }
        }
    }

    /// The kernel counts its kills in a group also if another group is out of memory.
    @Test func testThatTheMachinesMemoryIsNotTheJobsLimit() async throws {
        try await withMachine(64 << 20) { machine, launched in
            // when
            let end = try await launched.run(
                launched.sandboxed(
                    "head -c 300M /dev/zero | tail > /dev/null; sleep 600; echo survived",
                    limits: .init(memoryBytes: 1 << 30)))
            // then
            #expect(end.result == .faulty)
            #expect(end.limit == nil)
            expectContains(end.reason ?? "", "the machine ran out of memory")
            #expect(end.log.matches(of: /the machine ran out of memory/).count <= 1, "\(end.log)")
        }
    }

    /// The same with a job whose limit was full of files that it read. The kernel frees those, and that is no shortage of memory.
    @Test(.program("perl")) func testThatFilesThatWereReadAreNoWantOfMemory() async throws {
        try await withMachine(300 << 20) { machine, launched in
            // given
            let attempt = try launched.prepare(
                launched.sandboxed(
                    """
                    head -c 100M /dev/zero > f; cat f > /dev/null; rm f
                    exec perl -e '$a = "x" x (20 << 20); open F, ">ready"; close F; sleep 1000'
                    """, limits: .init(memoryBytes: 64 << 20)))
            try await launched.executor.start(attempt, secrets: [:])
            await launched.waitFor("ready")
            let group = try #require(launched.groups.first { $0.hasPrefix(machine) })
            // Each check reads the peak, and resets it if it was at the limit, up to 128 KiB.
            await until("a look") {
                let most = SmallFile.read(group + "/memory.max_usage_in_bytes", limit: 64) ?? []
                let bytes = Int(String(decoding: most.prefix { $0 > 0x20 }, as: UTF8.self))
                return bytes.map { $0 < (64 << 20) - (128 << 10) } ?? false
            }
            // when
            _ = try await run([
                "sh", "-c", "echo $$ > \(machine)/cgroup.procs; exec perl -e '$a = \"x\" x (400 << 20)'",
            ])
            // then
            let end = try await launched.end(of: attempt)
            #expect(end.result == .faulty, "\(end.limit ?? "")")
            expectContains(end.reason ?? "", "the machine ran out of memory")
        }
    }
}
