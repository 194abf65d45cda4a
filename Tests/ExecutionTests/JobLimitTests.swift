import Execution
import Glibc
import JobProtocol
import TestSupport
import Testing

/// The limits that end a job which takes too much, with a sandbox and without.
@Suite(.program("bwrap")) struct JobLimitTests {
    /// Returns a job, sandboxed or not.
    private func job(
        _ launched: Launched, isSandboxed: Bool, _ script: String, _ limits: JobDescription.Limits
    ) -> JobDescription {
        var job = launched.sandboxed(script, limits: limits)
        guard !isSandboxed else { return job }
        (job.isolation, job.sandbox, job.mountedAt) = (.none, nil, job.workspace)
        return job
    }

    private func expectLimit(
        _ words: String, _ script: String, _ limits: JobDescription.Limits, isSandboxed: Bool, as user: JobUser = .own,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await withLaunched(as: user) { launched in
            let end = try await launched.run(job(launched, isSandboxed: isSandboxed, script, limits))
            #expect(end.limit == words, "\(end.log)", sourceLocation: sourceLocation)
            #expect(end.result == .failed, sourceLocation: sourceLocation)
            #expect(!end.log.contains("survived"), sourceLocation: sourceLocation)
            #expect(end.log.contains("martlet: \(words)"), sourceLocation: sourceLocation)
            for group in ControlGroups.left(by: launched.lockOwner(end.attempt.paths.lock)) {
                Issue.record("the control group \(group) is left", sourceLocation: sourceLocation)
            }
        }
    }

    @Test(
        .proves(
            .jobs,
            "Memory and processes are limited by control groups of version 2 or 1, or else by the kernel's counts in the sandbox and by /proc; a fork bomb always ends early"
        ), .controlGroups, arguments: [true, false])
    func testThatTooMuchMemoryIsSaid(isSandboxed: Bool) async throws {
        try await expectLimit(
            "out of memory at 64 MiB", "head -c 300M /dev/zero | tail > /dev/null; sleep 600; echo survived",
            .init(memoryBytes: 64 << 20), isSandboxed: isSandboxed)
    }

    @Test(.controlGroups) func testThatWhatIsWrittenToTheTemporaryDirectoryIsMemory() async throws {
        try await expectLimit(
            "out of memory at 32 MiB",
            "head -c 60M /dev/zero > /tmp/a; head -c 60M /dev/zero > /dev/shm/a; sleep 600; echo survived",
            .init(memoryBytes: 32 << 20), isSandboxed: true)
    }

    @Test(.controlGroups, arguments: [true, false]) func testThatWithinItsMemoryAJobIsLeftAlone(isSandboxed: Bool)
        async throws
    {
        try await withLaunched { launched in
            let end = try await launched.run(
                job(
                    launched, isSandboxed: isSandboxed, "head -c 30M /dev/zero | tail > /dev/null; echo survived",
                    .init(memoryBytes: 64 << 20)))
            #expect(end.result == .completed)
        }
    }

    @Test(
        .proves(
            .jobs,
            "Memory and processes are limited by control groups of version 2 or 1, or else by the kernel's counts in the sandbox and by /proc; a fork bomb always ends early"
        ), .program("perl"), .enabled(if: getuid() == 0, "only root can be others"), arguments: [true, false])
    func testThatMemoryIsHeldWithoutControlGroups(isSandboxed: Bool) async throws {
        try await expectLimit(
            "out of memory at 64 MiB", "perl -e '$a = \"x\" x (128 << 20); sleep 600'; echo survived",
            .init(memoryBytes: 64 << 20), isSandboxed: isSandboxed, as: .ordinary)
    }

    /// No process has mapped this memory.
    @Test(.program("perl"), .enabled(if: getuid() == 0, "only root can be others"), arguments: [true, false])
    func testThatMemoryThatIsAFileIsHeldWithoutControlGroups(isSandboxed: Bool) async throws {
        let script = """
            perl -e '$m = "m"; $n = syscall(`uname -m` =~ /x86/ ? 319 : 279, $m, 0); open F, "+<&=", $n; $b = "x" x (1 << 20);
            syswrite F, $b for 1..256; sleep 600'; echo survived
            """
        try await expectLimit(
            "out of memory at 64 MiB", script, .init(memoryBytes: 64 << 20), isSandboxed: isSandboxed, as: .ordinary)
    }

    /// Memory that a process has both open and mapped counts once: 48 MiB here.
    @Test(.program("perl"), .enabled(if: getuid() == 0, "only root can be others"), arguments: [true, false])
    func testThatMemoryThatIsAFileAndMappedIsCountedOnce(isSandboxed: Bool) async throws {
        try await withLaunched(as: .ordinary) { launched in
            let script = """
                perl -e '$m = "m"; $x = `uname -m` =~ /x86/; $n = syscall($x ? 319 : 279, $m, 0); open F, "+<&=", $n;
                $b = "x" x (1 << 20); syswrite F, $b for 1..48; $p = syscall($x ? 9 : 222, 0, 48 << 20, 1, 0x8001, $n, 0);
                $p > 0 or die; open N, ">/dev/null"; syscall($x ? 1 : 64, fileno(N), $p, 48 << 20); sleep 1'; echo survived
                """
            let end = try await launched.run(
                job(launched, isSandboxed: isSandboxed, script, .init(memoryBytes: 64 << 20)))
            #expect(end.limit == nil, "\(end.log)")
            #expect(end.log == "survived\n")
        }
    }

    /// Eight processes share the same 20 to 40 MiB, and would be over the limit if each counted for itself. The time is enough for two
    /// measurements. While processes start and exit, each is measured when it shares with fewer: at most 1 + 1/2 + … + 1/8 of it is counted.
    @Test(
        .proves(
            .jobs,
            "Memory and processes are limited by control groups of version 2 or 1, or else by the kernel's counts in the sandbox and by /proc; a fork bomb always ends early"
        ), .program("perl"), .enabled(if: getuid() == 0, "only root can be others"), arguments: [true, false])
    func testThatWhatProcessesShareIsCountedOnce(isSandboxed: Bool) async throws {
        try await withLaunched(as: .ordinary) { launched in
            let script = "perl -e '$a = \"x\" x (20 << 20); for (1..7) { last unless fork } sleep 1'; echo survived"
            let end = try await launched.run(
                job(launched, isSandboxed: isSandboxed, script, .init(memoryBytes: 144 << 20)))
            #expect(end.limit == nil, "\(end.log)")
            #expect(end.log.contains("survived"))
        }
    }

    /// A shell that continues after a failed fork. The shell around it is killed a moment later or earlier.
    private static let bomb = "bash -c 'f() { f | f & }; while :; do f; done' 2>/dev/null; sleep 600; echo survived"

    @Test(
        .proves(
            .jobs,
            "Memory and processes are limited by control groups of version 2 or 1, or else by the kernel's counts in the sandbox and by /proc; a fork bomb always ends early"
        ), .program("bash"), arguments: JobUser.possible, [true, false])
    func testThatTooManyProcessesAreSaid(user: JobUser, isSandboxed: Bool) async throws {
        try await expectLimit("processes over 40", Self.bomb, .init(processes: 40), isSandboxed: isSandboxed, as: user)
    }

    /// Processes are counted at intervals there. A fork bomb must not take the machine meanwhile.
    @Test(
        .proves(
            .jobs,
            "Memory and processes are limited by control groups of version 2 or 1, or else by the kernel's counts in the sandbox and by /proc; a fork bomb always ends early"
        ), .enabled(if: getuid() == 0, "only root can be others"))
    func testThatTheKernelStopsABombThatNoControlGroupHolds() async throws {
        try await withLaunched(as: .ordinary) { launched in
            // given
            let script = "cut -d/ -f2 /proc/loadavg; grep processes /proc/self/limits"
            // when
            let end = try await launched.run(job(launched, isSandboxed: false, script, .init(processes: 40)))
            // then: "345 6789", "Max processes  505  505  processes"
            let numbers = end.log.split { !$0.isNumber }.compactMap { Int($0) }
            try #require(numbers.count == 4, "\(end.log)")
            #expect(numbers[2] == numbers[3])
            // The number of processes on the machine changes between the two checks.
            #expect((160...160 + 2 * numbers[0] + 1000).contains(numbers[2]), "\(end.log)")
        }
    }

    @Test(
        .proves(
            .jobs,
            "Memory and processes are limited by control groups of version 2 or 1, or else by the kernel's counts in the sandbox and by /proc; a fork bomb always ends early"
        ), arguments: JobUser.possible)
    func testThatAsManyProcessesAsAllowedAreLeftAlone(user: JobUser) async throws {
        try await withLaunched(as: user) { launched in
            // the shell and 19 others, for longer than the supervisor takes to count
            let script = "for i in $(seq 19); do sleep 1.5 & done; wait; echo survived"
            let end = try await launched.run(launched.sandboxed(script, limits: .init(processes: 20)))
            #expect(end.log == "survived\n")
            #expect(end.result == .completed)
        }
    }

    @Test(
        .proves(.jobs, "Limits of a workspace's bytes and files, of one file, of levels of directories"),
        arguments: JobUser.possible, [true, false])
    func testThatAFullWorkspaceIsSaid(user: JobUser, isSandboxed: Bool) async throws {
        try await expectLimit(
            "workspace over 20 MiB",
            "mkdir d; for i in $(seq 40); do head -c 1M /dev/zero > d/$i; done; sleep 600; echo survived",
            .init(workspaceBytes: 20 << 20), isSandboxed: isSandboxed, as: user)
    }

    /// It has a file system of its own. Only growth shows the fault in such a short step, and other processes' deletions would hide growth.
    @Test(.smallDisk) func testThatAFullWorkspaceIsSaidOfAShortStepToo() async throws {
        try await withLaunched { launched in
            // given
            try await SmallDisk.mounted(on: launched.workspace, size: "64m") {
                let job = launched.sandboxed(
                    "for i in 1 2 3; do head -c 10M /dev/zero > $i; done", limits: .init(workspaceBytes: 20 << 20))
                // when
                let end = try await launched.run(job)
                // then
                #expect(end.limit == "workspace over 20 MiB")
            }
        }
    }

    /// The first walk begins after the files were written, and is far from them when the step ends, because of the order in which a tmpfs lists
    /// them.
    @Test(.program("perl"), .smallDisk) func testThatAFullWorkspaceIsSaidWhereTheLastWalkWasNotFinished() async throws {
        try await withLaunched { launched in
            // given
            try await SmallDisk.mounted(on: launched.workspace, size: "64m") {
                try await runExpectingSuccess(
                    [
                        "perl", "-e",
                        "mkdir 'large'; mkdir 'many'; for (1..60000) { open F, '>', qq(many/$_); close F }",
                    ], in: launched.workspace)
                let job = launched.sandboxed(
                    "for i in 1 2 3; do head -c 10M /dev/zero > large/$i; done; sleep 0.8",
                    limits: .init(workspaceBytes: 20 << 20))
                // when
                let end = try await launched.run(job)
                // then
                #expect(end.limit == "workspace over 20 MiB")
            }
        }
    }

    /// The job is within its workspace's limit, but the disk is smaller. That is not the job's limit, since other processes may have filled the
    /// disk.
    @Test(
        .proves(
            .jobs,
            "A job's step is ended as the machine's fault if less than 256 MiB of the workspace's disk is left, or a hundredth of a smaller one (B3)"
        ), .smallDisk, arguments: [true, false])
    func testThatAJobDoesNotTakeTheLastOfTheDisk(isSandboxed: Bool) async throws {
        try await withLaunched { launched in
            // given
            try await SmallDisk.mounted(on: launched.workspace, size: "64m") {
                let script = "cat /dev/zero > a 2>/dev/null; sleep 600; echo survived"
                // when
                let end = try await launched.run(job(launched, isSandboxed: isSandboxed, script, .init()))
                // then
                #expect(end.result == .faulty)
                #expect(end.limit == nil)
                expectContains(end.reason ?? "", "disk full: less than ")
                expectContains(end.log, "martlet: disk full: less than ")
                #expect(!end.log.contains("survived"))
            }
        }
    }

    /// The rest of a small disk is enough if it is more than a hundredth.
    @Test(
        .proves(
            .jobs,
            "A job's step is ended as the machine's fault if less than 256 MiB of the workspace's disk is left, or a hundredth of a smaller one (B3)"
        ), .smallDisk)
    func testThatAJobOnASmallDiskIsLeftAlone() async throws {
        try await withLaunched { launched in
            // given
            try await SmallDisk.mounted(on: launched.workspace, size: "64m") {
                // when: for longer than until the first check
                let end = try await launched.run(
                    launched.sandboxed("head -c 60M /dev/zero > a; sleep 1.5; echo survived"))
                // then
                #expect(end.result == .completed, "\(end.reason ?? "")")
            }
        }
    }

    @Test(
        .proves(.jobs, "Limits of a workspace's bytes and files, of one file, of levels of directories"),
        arguments: [true, false])
    func testThatOneFileThatIsTooLargeIsSaid(isSandboxed: Bool) async throws {
        try await expectLimit(
            "one file over 20 MiB", "exec head -c 30M /dev/zero > a", .init(workspaceBytes: 20 << 20),
            isSandboxed: isSandboxed)
    }

    /// A shell returns the signal of its child as a status.
    @Test(.program("truncate"), arguments: [true, false])
    func testThatOneFileThatIsTooLargeIsSaidWhereAShellWroteIt(isSandboxed: Bool) async throws {
        try await expectLimit(
            "one file over 8 MiB", "truncate -s 16M f || exit $?; :", .init(workspaceBytes: 8 << 20),
            isSandboxed: isSandboxed)
    }

    /// Even other processes of its user cannot look into its descriptors, so the growth of the file system decides. It has a file system of its
    /// own, because other processes' deletions would hide the growth.
    @Test(
        .program("perl"), .smallDisk, .enabled(if: getuid() == 0, "only root can be others"), arguments: [true, false])
    func testThatDeletedFilesOfAProcessThatHidesAreFound(isSandboxed: Bool) async throws {
        try await withLaunched(as: .ordinary) { launched in
            // given
            let script = """
                perl -e 'syscall(`uname -m` =~ /x86/ ? 157 : 167, 4, 0, 0, 0, 0);
                for (1..8) { open $f[$_], ">f"; unlink "f"; print { $f[$_] } "x" x 5e6; $f[$_]->flush } sleep 600'; echo survived
                """
            try await SmallDisk.mounted(on: launched.workspace, size: "64m") {
                let job = job(launched, isSandboxed: isSandboxed, script, .init(workspaceBytes: 20 << 20))
                // when
                let end = try await launched.run(job)
                // then
                #expect(end.limit == "workspace over 20 MiB", "\(end.log)")
                #expect(end.result == .failed)
            }
        }
    }

    /// The grace of a step is for its exit, not for filling the disk.
    @Test(
        .proves(.jobs, "Limits of a workspace's bytes and files, of one file, of levels of directories"),
        arguments: [true, false])
    func testThatAFullWorkspaceIsSaidInTheGraceToo(isSandboxed: Bool) async throws {
        try await withLaunched { launched in
            // given
            let script = """
                trap 'for i in $(seq 40); do head -c 1M /dev/zero > $i; done; sleep 600; echo survived' TERM
                while :; do sleep 0.05; done
                """
            var job = job(launched, isSandboxed: isSandboxed, script, .init(workspaceBytes: 20 << 20))
            job.limits.graceMilliseconds = 60_000
            job.steps[0].timeoutMilliseconds = TestLimits.passing(milliseconds: 500)
            // when
            let end = try await launched.run(job)
            // then
            #expect(end.limit == "testing exceeded \(Launched.words(job.steps[0].timeoutMilliseconds))")
            expectContains(end.log, "martlet: workspace over 20 MiB; script is ended")
            #expect(!end.log.contains("survived"))
        }
    }

    /// The limit is the job's, so it ends the job, also if the step may fail: later output would not be kept.
    @Test(
        .proves(
            .jobs, "A limit of the whole job, such as its log's, ends it, whatever step reached it, and is build-errors"
        ))
    func testThatAFullLogEndsTheJobWhateverStepFilledIt() async throws {
        try await withLaunched { launched in
            // given
            var job = launched.sandboxed("yes", "touch built", limits: .init(logBytes: 1 << 20))
            job.steps[0].isRequired = false
            // when
            let end = try await launched.run(job)
            // then
            #expect(end.result == .failed)
            #expect(end.limit == "log over 1 MiB")
            #expect(end.step(1) == nil)
            #expect(access(launched.workspace + "/built", F_OK) != 0)
        }
    }

    /// Shows that other tests would find such a group.
    @Test(.controlGroups) func testThatTheGroupOfAJobThatRunsIsSeen() async throws {
        try await withLaunched { launched in
            // given
            let attempt = try launched.prepare(launched.job("touch ready; while ! test -e go; do sleep 0.02; done"))
            try await launched.executor.start(attempt, secrets: [:])
            // when
            await launched.waitFor("ready")
            let groups = launched.groups
            try launched.directory.write("workspace/go", "")
            // then
            #expect(!groups.isEmpty)
            #expect(try await launched.end(of: attempt).result == .completed)
            #expect(launched.groups.isEmpty)
        }
    }

    /// Events during its grace are not the reason for a step's end.
    @Test(arguments: [true, false]) func testThatTheFirstLimitIsTheOneThatIsSaid(isSandboxed: Bool) async throws {
        try await withLaunched { launched in
            // given
            let short = TestLimits.passing(milliseconds: 300)
            var job = job(
                launched, isSandboxed: isSandboxed,
                "trap 'head -c 2M /dev/zero; exit 1' TERM; while :; do sleep 0.02; done",
                .init(logBytes: 1 << 20, graceMilliseconds: 1000))
            job.steps[0].timeoutMilliseconds = short
            // when
            let end = try await launched.run(job)
            // then
            #expect(end.limit == "testing exceeded \(Launched.words(short))")
            #expect(end.reason == end.limit)
        }
    }

    @Test(.proves(.jobs, "Limits of a workspace's bytes and files, of one file, of levels of directories"))
    func testThatTooManyFilesAreSaid() async throws {
        try await expectLimit(
            "workspace over 1,000 files",
            "i=0; while [ $i -lt 3000 ]; do : > $i; i=$((i+1)); done; sleep 600; echo survived",
            .init(workspaceFiles: 1000), isSandboxed: true)
    }

    @Test(.proves(.jobs, "Limits of a workspace's bytes and files, of one file, of levels of directories"))
    func testThatDirectoriesThatAreTooDeepAreSaidAndRemoved() async throws {
        try await expectLimit(
            "workspace over 256 levels of directories",
            "i=0; while [ $i -lt 1000 ]; do mkdir d && cd d; i=$((i+1)); done; sleep 600; echo survived", .init(),
            isSandboxed: true)
    }

    @Test func testThatAFileOfManyNamesIsCountedOnce() async throws {
        try await withLaunched { launched in
            let script = "head -c 8M /dev/zero > a; for i in $(seq 20); do ln a $i; done; sleep 5; echo survived"
            let end = try await launched.run(launched.sandboxed(script, limits: .init(workspaceBytes: 10 << 20)))
            #expect(end.result == .completed)
        }
    }

    @Test(.proves(.jobs, "A later request can only shorten the grace"))
    func testThatALaterRequestCanBeMoreImpatient() async throws {
        try await withLaunched { launched in
            // given: it ignores the request to end, and has ten minutes
            let attempt = launched.attempt()
            try attempt.prepare(
                launched.job("trap 'touch asked' TERM; touch ready; while :; do sleep 0.02; done"))
            try await launched.executor.start(attempt, secrets: [:])
            await launched.waitFor("ready")
            try await launched.executor.cancel(attempt, reason: "superseded", grace: .seconds(600))
            await launched.waitFor("asked")
            // when
            try await launched.executor.cancel(attempt, reason: "superseded", grace: .zero)
            // then
            let end = try await launched.end(of: attempt)
            #expect(end.result == .canceled)
            #expect(end.step(0) == "signal 9")
        }
    }

    @Test func testThatLinesOfOursTakeNothingFromTheLimit() async throws {
        try await withLaunched { launched in
            // given
            var job = launched.job("", "head -c 65536 /dev/zero | tr '\\0' x", limits: .init(logBytes: 64 * 1024))
            job.steps[0].arguments = ["no-such-command"]
            job.steps[0].isRequired = false
            // when
            let end = try await launched.run(job)
            // then
            expectContains(end.log, "martlet: no-such-command cannot be started")
            #expect(end.result == .completed, "\(end.reason ?? "")")
            #expect(end.attempt.logSize > 64 * 1024)
        }
    }
}
