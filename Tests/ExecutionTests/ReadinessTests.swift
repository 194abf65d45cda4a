import CLinux
import Execution
import Glibc
import JobProtocol
import TestSupport
import Testing

/// Things that wait with a supervisor for the next job: the control group, and the sandboxes of the job's steps.
@Suite(.program("bwrap")) struct ReadinessTests {
    /// Delays the job until the file `go` exists.
    private static let held = "touch ready; while ! test -e go; do sleep 0.02; done"

    /// Waits until two supervisors are ready, each with a control group.
    private func withReady(_ body: (Launched, [LockContent]) async throws -> Void) async throws {
        try await withLaunched { launched in
            // given
            let first = try await launched.run(launched.sandboxed("true"), name: "first")
            #expect(first.result == .completed, "\(first.reason ?? "")")
            let launcher = try #require(launched.lockOwner(launched.socket + ".lock")).pid
            var ready: [LockContent] = []
            await until("two supervisors are ready") {
                ready = ProcessTable.descendants(of: launcher).filter { $0.isAlive && isWaiting($0.pid) }.map {
                    LockContent(bootID: "", pid: $0.pid, startTime: $0.startTime)
                }
                return ready.count == 2 && ready.allSatisfy { !ControlGroups.left(by: $0).isEmpty }
            }
            try await body(launched, ready)
        }
    }

    private func isWaiting(_ process: Int32) -> Bool {
        let line = SmallFile.read("/proc/\(process)/cmdline", limit: 8192) ?? []
        return String(decoding: line, as: UTF8.self).hasSuffix("--wait\0")
    }

    private func bubblewrap(of supervisor: Int32) -> ProcessTable.Entry? {
        ProcessTable.descendants(of: supervisor).first { entry in
            let line = SmallFile.read("/proc/\(entry.pid)/cmdline", limit: 1 << 16) ?? []
            return entry.isAlive && String(decoding: line.prefix { $0 != 0 }, as: UTF8.self).hasSuffix("/bwrap")
        }
    }

    /// Runs a job that is delayed, and passes the processes below its supervisor.
    private func during(
        _ job: JobDescription, _ launched: Launched, _ body: (LockContent) async throws -> Void
    ) async throws -> Ended {
        let attempt = try launched.prepare(job, name: "held")
        try await launched.executor.start(attempt, secrets: [:])
        await launched.waitFor("ready", in: attempt)
        try await body(try #require(launched.lockOwner(attempt.paths.lock)))
        try launched.directory.write("workspace/go", "")
        return try await launched.end(of: attempt)
    }

    /// The job's limits are set after the group was made.
    @Test(
        .proves(.jobs, "A job does not wait for its control group, which is made before the job is known"),
        .controlGroups)
    func testThatMemoryIsHeldInAReadyOneToo() async throws {
        try await withReady { launched, ready in
            // when
            let attempt = try launched.prepare(
                launched.sandboxed(
                    "head -c 300M /dev/zero | tail > /dev/null; sleep 600", limits: .init(memoryBytes: 64 << 20)))
            try await launched.executor.start(attempt, secrets: [:])
            let end = try await launched.end(of: attempt)
            // then
            let supervisor = try #require(launched.lockOwner(attempt.paths.lock)).pid
            #expect(ready.map(\.pid).contains(supervisor))
            #expect(end.limit == "out of memory at 64 MiB", "\(end.log)")
        }
    }

    /// In version 1 that is a separate group, which is not made in advance.
    @Test(
        .proves(.jobs, "A job does not wait for its control group, which is made before the job is known"),
        .controlGroups)
    func testThatAWeightIsHeldWhateverIsReady() async throws {
        try await withReady { launched, _ in
            // when
            let job = launched.sandboxed(Self.held, limits: .init(cpuWeight: 50))
            let end = try await during(job, launched) { supervisor in
                // then
                let sandbox = try #require(bubblewrap(of: supervisor.pid))
                let groups = String(
                    decoding: SmallFile.read("/proc/\(sandbox.pid)/cgroup", limit: 1 << 16) ?? [], as: UTF8.self
                ).split(separator: "\n").filter { $0.contains("/martlet-job-\(supervisor.pid)-") }
                // Version 2 has one group for everything.
                #expect(groups.contains { $0.contains(":cpu") || $0.hasPrefix("0::") }, "\(groups)")
            }
            #expect(end.result == .completed, "\(end.reason ?? "")")
        }
    }

    @Test(
        .proves(.jobs, "A job does not wait for its control group, which is made before the job is known"),
        .controlGroups)
    func testThatWhatWasReadyIsGoneWithTheLauncher() async throws {
        try await withReady { launched, ready in
            // when
            launched.kill(launched.lockOwner(launched.socket + ".lock"), SIGKILL)
            // then
            await until("they are gone") {
                ready.allSatisfy { !(ProcessTable.entry(of: $0.pid)?.isAlive ?? false) }
            }
            await until("their groups are gone") { ready.allSatisfy { ControlGroups.left(by: $0).isEmpty } }
        }
    }

    /// No path of the job is on bubblewrap's command line, which every user of the machine can read.
    @Test(
        .proves(
            .jobs,
            "A sandbox is made of as many paths as a job may name, and bubblewrap's command line says nothing of the job"
        ))
    func testThatBubblewrapsCommandLineSaysNothingOfTheJob() async throws {
        try await withLaunched { launched in
            // when
            let end = try await during(launched.sandboxed(Self.held), launched) { supervisor in
                // then
                let sandbox = try #require(bubblewrap(of: supervisor.pid))
                let line = (SmallFile.read("/proc/\(sandbox.pid)/cmdline", limit: 1 << 16) ?? []).split(separator: 0)
                #expect(
                    line.dropFirst().map { String(decoding: $0, as: UTF8.self) }
                        == ["--args", "8", "--", "/proc/self/fd/6", "--within-fence"])
                #expect((SmallFile.read("/proc/\(sandbox.pid)/environ", limit: 4096) ?? []).isEmpty)
            }
            #expect(end.result == .completed, "\(end.reason ?? "")")
        }
    }

    /// The paths need more bytes than a pipe holds.
    @Test(
        .proves(
            .jobs,
            "A sandbox is made of as many paths as a job may name, and bubblewrap's command line says nothing of the job"
        ))
    func testThatASandboxOfManyPathsIsMade() async throws {
        try await withLaunched { launched in
            // given: the most paths, each of some 800 bytes, and each passed twice
            let deep = Array(repeating: String(repeating: "d", count: 180), count: 4).joined(separator: "/")
            let paths = try (0..<64).map { try launched.directory.makeDirectory("shown/\($0)/" + deep) }
            let script = "ls -d \(launched.directory.path)/shown/*/\(deep) | wc -l"
            // when
            let end = try await launched.run(launched.sandboxed(script, readOnly: paths))
            // then
            #expect(end.log == "64\n", "\(end.reason ?? "")")
        }
    }
}
