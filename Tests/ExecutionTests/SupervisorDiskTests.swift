import Basics
import Execution
import Glibc
import JobProtocol
import TestSupport
import Testing

/// Files must be on the disk before others rely on them. The supervisor is started directly, so that a filter can be around it.
@Suite struct SupervisorDiskTests {
    /// A filter of system calls around the supervisor makes fsync(2) fail: the line can be written, and is on no disk.
    @Test(
        .proves(
            .jobs,
            "A step's process and sandbox are made while its beginning is synchronized to the disk. If that fails, the command does not run"
        ), .sandbox)
    func testThatAStepWhoseBeginningIsNotOnTheDiskIsNotRun() async throws {
        try await withLaunched { launched in
            // given
            let attempt = launched.attempt()
            try attempt.prepare(launched.job("touch ran", "touch ran"))
            let filter = launched.directory.path("filter")
            try launched.directory.directory().write("filter", bytes: Self.failing(Self.fsync))
            // when
            try await runExpectingSuccess([
                "sh", "-c", #"exec bwrap --dev-bind / / --seccomp 9 -- "$0" --attempt "$1" 9<"$2""#,
                launched.supervisor,
                attempt.path, filter,
            ])
            // then: the attempt ends by our fault, which the daemon calls an internal error
            let end = try await launched.end(of: attempt)
            #expect(access(launched.workspace + "/ran", F_OK) != 0)
            #expect(end.result == .faulty)
            expectContains(end.reason ?? "", "writing in \(attempt.path) failed: Input/output error")
            #expect(end.step(0) == nil)
            #expect(!end.events.contains { if case .started(1, _) = $0 { true } else { false } })
        }
    }

    /// This happens before the daemon reads it. The job's results are on the same disk, and are stored nevertheless.
    @Test(
        .proves(
            .jobs,
            "A job that takes the disk's last byte or file is an internal error; its workspace is emptied, and the next push is integrated without an operator"
        ), .smallDisk, arguments: Launched.sandboxes)
    func testThatAJobThatTookTheLastOfTheDiskAtOnceEndsByTheMachinesFault(isSandboxed: Bool) async throws {
        try await withLaunched { launched in
            // given
            try await SmallDisk.mounted(on: try launched.directory.makeDirectory("disk"), size: "8m") {
                let script = "cat /dev/zero > a 2>/dev/null; exit 3"
                var job = isSandboxed ? launched.sandboxed(script) : launched.job(script)
                job.workspace = launched.directory.path("disk/workspace")
                try #require(mkdir(job.workspace, 0o755) == 0)
                if !isSandboxed { job.mountedAt = job.workspace }
                // when
                let end = try await launched.run(job, name: "disk/attempt")
                // then
                #expect(end.result == .faulty)
                #expect(end.reason == "disk full: less than 80 KiB left")
            }
        }
    }

    /// A new file's bytes can be on the disk without its name (fsync(2)).
    @Test(
        .proves(
            .jobs, "Before a job's last word the names of its log, its index and all that was collected are on the disk"
        ), .program("strace"))
    func testThatNamesAreOnTheDiskBeforeTheLastWord() async throws {
        try await withLaunched { launched in
            // given
            let attempt = launched.attempt()
            let trace = launched.directory.path("trace")
            try attempt.prepare(
                launched.job(
                    "mkdir -p build out/bin; echo 1 >build/new.xml; echo x >out/bin/tool", report: ["build/*.xml"],
                    collect: [.init(patterns: ["out/**"], base: "out")]))
            // when
            try await runExpectingSuccess([
                "strace", "-f", "-qq", "-y", "-s", "64", "-e", "trace=fsync,fdatasync,write", "-o", trace,
                launched.supervisor,
                "--attempt", attempt.path,
            ])
            // then
            #expect(try await launched.end(of: attempt).result == .completed)
            let calls = try launched.directory.text("trace").split(separator: "\n")
            func last(_ call: String, of file: String) -> Int? {
                calls.lastIndex { $0.contains(" \(call)(") && $0.contains("<\(attempt.path)\(file)>") }
            }
            let lastWord = try #require(last("write", of: "/status.jsonl"))
            expectContains(String(calls[lastWord]), "finished")
            for (directory, file) in [
                ("", "/log"), ("", "/log.index"), ("/reports/0/build", "/reports/0/build/new.xml"), ("/reports/0", ""),
                ("/reports", ""),
                ("/artifacts/bin", "/artifacts/bin/tool"), ("/artifacts", ""),
            ] {
                let names = try #require(last("fsync", of: directory), "\(directory)")
                #expect(names < lastWord, "\(directory)")
                if !file.isEmpty { #expect(try #require(last("fdatasync", of: file), "\(file)") < names, "\(file)") }
            }
        }
    }

    @Test(.smallDisk) func testThatAStepWhoseLogCannotBeWrittenIsEnded() async throws {
        try await withSmallDisk { launched, disk, attempt in
            // given: more than a page, of which the first may fit
            let script = "cat /dev/zero >\(disk)/full 2>/dev/null; head -c 9000 /dev/zero; sleep 600"
            try attempt.prepare(launched.job(script))
            // when
            try await launched.executor.start(attempt, secrets: [:])
            // then
            let end = try await launched.end(of: attempt)
            #expect(end.result == .faulty)
            expectContains(end.reason ?? "", "writing in \(attempt.path) failed: No space left on device")
            // The reason is not its time limit.
            #expect(end.step(0) == "signal 9")
        }
    }

    /// The test sees the wait by the system call, which has other numbers on other processors.
    @Test(.smallDisk, .enabled(if: isX86, "only x86-64's poll(2) is known here"))
    func testThatTheLastWordWaitsForRoom() async throws {
        try await withSmallDisk { launched, disk, attempt in
            // given: a disk that becomes full when the rest of the 32 KiB that the file has from its beginning is too small for a step's end and
            // the last event
            let script =
                "s=$(stat -c %s \(attempt.paths.status)); [ $((32768 - s)) -ge 300 ] || cat /dev/zero >\(disk)/full; true"
            var job = launched.job(script)
            job.steps = Array(repeating: job.steps[0], count: 256)
            try attempt.prepare(job)
            // when
            let end = try await endOnceThereIsRoom(attempt, on: disk, launched)
            // then
            #expect(end.result == .faulty)
            expectContains(end.reason ?? "", "No space left on device")
        }
    }

    @Test(
        .proves(
            .jobs,
            "A step's process and sandbox are made while its beginning is synchronized to the disk. If that fails, the command does not run"
        ),
        .proves(
            .jobs,
            "What is the machine's fault is not a step's: a sandbox that cannot be made, memory that the machine has not, a disk that takes no more"
        ), .smallDisk, .enabled(if: isX86, "only x86-64's poll(2) is known here"))
    func testThatAStepThatCannotBeNotedIsNotRun() async throws {
        try await withSmallDisk { launched, disk, attempt in
            // given: a disk with room for the lock only
            try attempt.prepare(launched.job("touch ran"))
            try await runExpectingSuccess([
                "sh", "-c",
                "dd if=/dev/zero of=\(disk)/full bs=4096 2>/dev/null; truncate -s -4096 \(disk)/full; test -s \(disk)/full",
            ])
            // when
            let end = try await endOnceThereIsRoom(attempt, on: disk, launched)
            // then
            #expect(end.result == .faulty)
            expectContains(end.reason ?? "", "No space left on device")
            #expect(access(launched.workspace + "/ran", F_OK) != 0)
        }
    }

    /// Starts an attempt whose disk is, or becomes, full with its file `full`. The file is removed once the supervisor waits for room.
    private func endOnceThereIsRoom(
        _ attempt: AttemptDirectory, on disk: String, _ launched: Launched
    ) async throws -> Ended {
        try await launched.executor.start(attempt, secrets: [:])
        try await awaitWaiting(launched.lockOwner(attempt.paths.lock))
        unlink(disk + "/full")
        return try await launched.end(of: attempt)
    }

    /// Waits until a supervisor only retries its last event: poll(2) for a second (proc_pid_syscall(5)).
    private func awaitWaiting(_ supervisor: LockContent?) async throws {
        let pid = try #require(supervisor).pid
        await until("the supervisor waits for room") {
            let call = SmallFile.read("/proc/\(pid)/syscall", limit: 256) ?? []
            return String(decoding: call, as: UTF8.self).split(separator: " ").dropFirst().prefix(3).elementsEqual(
                ["0x0", "0x0", "0x3e8"])
        }
    }

    #if arch(x86_64)
        private static let isX86 = true
    #else
        private static let isX86 = false
    #endif

    /// Runs a test with the directory of an attempt on a disk of its own.
    private func withSmallDisk(
        _ body: (Launched, _ disk: String, AttemptDirectory) async throws -> Void
    ) async throws {
        try await withLaunched { launched in
            let disk = try launched.directory.makeDirectory("disk")
            try await SmallDisk.mounted(on: disk, size: "256k") {
                try await body(launched, disk, AttemptDirectory(path: disk + "/attempt"))
            }
        }
    }

    // asm/unistd_64.h, asm-generic/unistd.h
    #if arch(arm64)
        private static let fsync: UInt32 = 82
    #else
        private static let fsync: UInt32 = 74
    #endif

    /// Returns a filter (seccomp(2)) by which one call fails with EIO: struct sock_filter, a code of 16 bits, two jumps of 8, a value of 32.
    private static func failing(_ call: UInt32) -> [UInt8] {
        let instructions: [(code: UInt16, no: UInt8, value: UInt32)] = [
            (0x20, 0, 0), (0x15, 1, call), (0x06, 0, 0x0005_0000 | UInt32(EIO)), (0x06, 0, 0x7FFF_0000),
        ]
        return instructions.flatMap { instruction in
            [UInt8(instruction.code), 0, 0, instruction.no]
                + (0..<4).map { UInt8(truncatingIfNeeded: instruction.value >> (8 * $0)) }
        }
    }
}
