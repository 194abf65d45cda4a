import CLinux
import Execution
import Glibc
import JobProtocol
import TestSupport
import Testing

/// What waits with a supervisor for the next job: bubblewrap, which is not told yet what to fence, and the control group.
@Suite(.program("bwrap")) struct ReadinessTests {
    /// Holds the job until there is a file `go`.
    private static let held = "touch ready; while ! test -e go; do sleep 0.02; done"

    /// Runs jobs in a fence, so that the launcher expects the next one to have one, and waits until two are ready.
    private func withReady(
        as user: JobUser = .own, _ body: (Launched, [ProcessTable.Entry]) async throws -> Void
    ) async throws {
        try await withLaunched(as: user) { launched in
            // given: those that the launcher may have started before the first job expect none with a fence, and are taken first
            for index in 0..<3 {
                let end = try await launched.run(launched.fenced("true"), name: "\(index)")
                #expect(end.result == .completed, "\(end.reason ?? "")")
            }
            let launcher = try #require(launched.lockOwner(launched.socket + ".lock")).pid
            var ready: [ProcessTable.Entry] = []
            await until("two fences are ready") {
                ready = fences(of: launcher)
                return ready.count == 2
            }
            try await body(launched, ready)
        }
    }

    private func fences(of process: Int32) -> [ProcessTable.Entry] {
        ProcessTable.descendants(of: process).filter { entry in
            entry.isAlive && (line(entry.pid).first?.hasSuffix("/bwrap") ?? false)
        }
    }

    private func line(_ pid: Int32) -> [String] {
        (SmallFile.read("/proc/\(pid)/cmdline", limit: 1 << 16) ?? []).split(separator: 0).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// Runs a job that is held, and gives what is beneath its supervisor then.
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

    @Test(arguments: [JobUser.own, .ordinary].filter(JobUser.possible.contains))
    func testThatAJobsFirstStepHasTheFenceThatWasReady(user: JobUser) async throws {
        try await withReady(as: user) { launched, ready in
            // when
            let end = try await during(launched.fenced(Self.held, "echo second"), launched) { supervisor in
                // then
                let used = fences(of: supervisor.pid).map(\.pid)
                #expect(used.count == 1)
                #expect(Set(ready.map(\.pid)).isSuperset(of: used))
            }
            #expect(end.result == .completed)
            #expect(end.log == "second\n")
        }
    }

    /// What it is started with is no job's.
    @Test func testThatItKnowsNothingBefore() async throws {
        try await withReady { _, ready in
            for fence in ready {
                #expect(line(fence.pid).dropFirst() == ["--args", "8", "--", "/proc/self/fd/6", "--within-fence"])
                #expect((SmallFile.read("/proc/\(fence.pid)/environ", limit: 4096) ?? []).isEmpty)
            }
        }
    }

    /// The job's limits come after its start.
    @Test(arguments: JobUser.possible) func testThatOneFileThatIsTooLargeIsSaidOfAReadyOneToo(user: JobUser)
        async throws
    {
        try await withReady(as: user) { launched, _ in
            // when
            let end = try await launched.run(
                launched.fenced("exec head -c 30M /dev/zero > a", limits: .init(workspaceBytes: 20 << 20)))
            // then
            #expect(end.limit == "one file over 20 MiB", "\(end.log)")
        }
    }

    @Test(.controlGroups) func testThatMemoryIsHeldInAReadyOneToo() async throws {
        try await withReady { launched, _ in
            // when
            let end = try await launched.run(
                launched.fenced(
                    "head -c 300M /dev/zero | tail > /dev/null; sleep 600", limits: .init(memoryBytes: 64 << 20)))
            // then
            #expect(end.limit == "out of memory at 64 MiB", "\(end.log)")
        }
    }

    /// In version 1 that is a group of its own, in which what was ready is not.
    @Test(.controlGroups) func testThatAWeightIsHeldWhateverIsReady() async throws {
        try await withReady { launched, _ in
            // when
            let job = launched.fenced(Self.held, limits: .init(cpuWeight: 50))
            let end = try await during(job, launched) { supervisor in
                // then
                let fence = try #require(fences(of: supervisor.pid).first)
                let groups = String(
                    decoding: SmallFile.read("/proc/\(fence.pid)/cgroup", limit: 1 << 16) ?? [], as: UTF8.self
                ).split(separator: "\n").filter { $0.contains("/martlet-job-\(supervisor.pid)-") }
                // Of version 2 there is one for all.
                #expect(groups.contains { $0.contains(":cpu") || $0.hasPrefix("0::") }, "\(groups)")
            }
            #expect(end.result == .completed, "\(end.reason ?? "")")
        }
    }

    @Test func testThatAJobWithoutAFenceHasNoneOfItBeside() async throws {
        try await withReady { launched, _ in
            // when
            let end = try await during(launched.job(Self.held), launched) { supervisor in
                // then
                await until("the ready fence is gone") { fences(of: supervisor.pid).isEmpty }
            }
            #expect(end.result == .completed)
        }
    }

    @Test func testThatOneThatHasEndedIsReplaced() async throws {
        try await withReady { launched, ready in
            // given
            for fence in ready { kill(fence.pid, SIGKILL) }
            await until("they are gone") { ready.allSatisfy { !(ProcessTable.entry(of: $0.pid)?.isAlive ?? false) } }
            // when
            let end = try await launched.run(launched.fenced("echo done"))
            // then
            #expect(end.result == .completed, "\(end.reason ?? "")")
            #expect(end.log == "done\n")
        }
    }

    @Test func testThatTheyEndWithTheSupervisorThatWaits() async throws {
        try await withReady { launched, ready in
            // when
            for fence in ready { kill(fence.parent, SIGKILL) }
            // then
            await until("they are gone") { ready.allSatisfy { !(ProcessTable.entry(of: $0.pid)?.isAlive ?? false) } }
            let end = try await launched.run(launched.fenced("true"))
            #expect(end.result == .completed)
        }
    }

    @Test(.controlGroups) func testThatWhatWasReadyIsGoneWithTheLauncher() async throws {
        try await withReady { launched, ready in
            // given
            let supervisors = ready.compactMap { ProcessTable.entry(of: $0.parent) }.map {
                LockContent(bootID: "", pid: $0.pid, startTime: $0.startTime)
            }
            let groups = supervisors.flatMap { ControlGroups.left(by: $0) }
            #expect(!groups.isEmpty)
            // when
            launched.kill(launched.lockOwner(launched.socket + ".lock"), SIGKILL)
            // then
            await until("they are gone") { ready.allSatisfy { !(ProcessTable.entry(of: $0.pid)?.isAlive ?? false) } }
            await until("their groups are gone") { supervisors.allSatisfy { ControlGroups.left(by: $0).isEmpty } }
        }
    }

    /// More than a pipe takes by itself.
    @Test func testThatAFenceOfManyPathsIsMade() async throws {
        try await withLaunched { launched in
            // given: the most paths, of some 800 bytes, each said twice
            let deep = Array(repeating: String(repeating: "d", count: 180), count: 4).joined(separator: "/")
            let paths = try (0..<64).map { try launched.directory.makeDirectory("shown/\($0)/" + deep) }
            let script = "ls -d \(launched.directory.path)/shown/*/\(deep) | wc -l"
            // when
            let end = try await launched.run(launched.fenced(script, readOnly: paths))
            // then
            #expect(end.log == "64\n", "\(end.reason ?? "")")
        }
    }
}
