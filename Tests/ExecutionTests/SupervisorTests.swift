import CLinux
import Execution
import ExecutionSupport
import Glibc
import JobProtocol
import TestSupport
import Testing

/// The supervisor, tested by the files that it leaves in an attempt's directory.
@Suite struct SupervisorTests {
    @Suite struct GivenAStepThatEnds {
        @Test(
            .proves(.jobs, "`martlet-supervisor` as supervisor; launching twice is harmless"),
            arguments: [
                ("exit 0", "exit 0", StatusEvent.Outcome.completed), ("exit 1", "exit 1", .failed),
                ("exit 77", "exit 77", .failed), ("exit 137", "exit 137", .failed), ("exit 255", "exit 255", .failed),
                ("kill -9 $$", "signal 9", .failed), ("kill -11 $$", "signal 11", .failed),
                ("exec >&- 2>&-; sleep 0.1; exit 5", "exit 5", .failed),
                ("setsid sleep 1000 & exit 0", "exit 0", .completed),
                ("(setsid sh -c 'trap \"\" TERM HUP; sleep 1000' &) ; exit 4", "exit 4", .failed),
            ])
        func testThatItsTrueEndIsToldAndNothingRemains(
            script: String, ended: String, result: StatusEvent.Outcome
        ) async throws {
            try await withLaunched { launched in
                // given
                var job = launched.job(script)
                job.environment["MARTLET_TEST_CANARY"] = launched.directory.path
                // when
                let end = try await launched.run(job)
                // then
                #expect(end.step(0) == ended)
                #expect(end.result == result)
            }
        }

        @Test func testThatOneThatIsNotRequiredDoesNotStopTheNext() async throws {
            try await withLaunched { launched in
                var job = launched.job("exit 3", "echo second")
                job.steps[0].isRequired = false
                let end = try await launched.run(job)
                #expect(end.step(0) == "exit 3")
                #expect(end.step(1) == "exit 0")
                #expect(end.result == .completed)
            }
        }

        @Test func testThatOneThatFailsStopsTheNext() async throws {
            try await withLaunched { launched in
                let end = try await launched.run(launched.job("exit 3", "echo second"))
                #expect(end.step(1) == nil)
                #expect(end.result == .failed)
            }
        }

        @Test(arguments: [["no-such-command"], ["/no/such/command"]], Launched.sandboxes)
        func testThatACommandThatIsNotThereIs127AndSaid(arguments: [String], isSandboxed: Bool) async throws {
            try await withLaunched { launched in
                var job = isSandboxed ? launched.sandboxed("") : launched.job("")
                job.steps[0].arguments = arguments
                let end = try await launched.run(job)
                #expect(end.step(0) == "exit 127")
                #expect(end.log.contains("\(arguments[0]) cannot be started: No such file or directory"))
            }
        }

        @Test(arguments: Launched.sandboxes)
        func testThatAWorkingDirectoryThatIsALinkIsRefused(isSandboxed: Bool) async throws {
            try await withLaunched { launched in
                symlink("/", launched.workspace + "/out")
                var job = isSandboxed ? launched.sandboxed("pwd") : launched.job("pwd")
                job.steps[0].workingDirectory = "out"
                let end = try await launched.run(job)
                #expect(end.step(0) == "exit 127")
                #expect(end.log.contains("script cannot be started in out"))
            }
        }
    }

    @Suite struct GivenAStepThatDoesNotEnd {
        @Test(
            .proves(.jobs, "Time-outs: TERM, then KILL, of everything that the step started"),
            .proves(.badInput, "Tests that hang: test-failures, with the limit and the name of the test"),
            arguments: ["sleep 1000", "trap '' TERM; sleep 1000 & while :; do sleep 1; done", "kill -STOP $$"])
        func testThatItIsEndedAtItsTimeout(script: String) async throws {
            try await withLaunched { launched in
                // given
                var job = launched.job(script, timeout: 300)
                job.environment["MARTLET_TEST_CANARY"] = launched.directory.path
                // when
                let end = try await launched.run(job)
                // then
                #expect(end.limit == "testing exceeded 300 ms")
                #expect(end.step(0)?.hasPrefix("signal ") ?? false, "\(end.step(0) ?? "")")
                #expect(end.result == .failed)
                #expect(end.log.contains("martlet: testing exceeded 300 ms"))
            }
        }

        @Test(.proves(.jobs, "Time-outs: TERM, then KILL, of everything that the step started"))
        func testThatItIsGivenTimeToEndInOrder() async throws {
            try await withLaunched { launched in
                // given: time enough to be ready
                let timeout = TestLimits.passing(milliseconds: 500)
                let job = launched.job(
                    "trap 'echo cleaning; exit 9' TERM; echo ready; while :; do sleep 0.05; done", timeout: timeout,
                    grace: 60_000)
                // when
                let end = try await launched.run(job)
                // then
                #expect(end.step(0) == "exit 9 testing exceeded \(Launched.words(timeout))")
                #expect(end.log.contains("cleaning"))
            }
        }

        @Test func testThatASignalWithoutACancelFileIsTheMachineStopping() async throws {
            try await withLaunched { launched in
                // given
                let attempt = launched.attempt()
                try attempt.prepare(launched.job("touch ready; sleep 1000"))
                try await launched.executor.start(attempt, secrets: [:])
                await launched.waitFor("ready")
                // when
                launched.kill(launched.lockOwner(attempt.paths.lock), SIGTERM)
                // then
                let end = try await launched.end(of: attempt)
                #expect(end.result == .interrupted)
            }
        }

        @Test func testThatACancelBeforeTheFirstStepRunsNothing() async throws {
            try await withLaunched { launched in
                let attempt = launched.attempt()
                try attempt.prepare(launched.job("touch ran"))
                try await launched.executor.cancel(attempt, reason: "changed my mind", grace: .zero)
                try await launched.executor.start(attempt, secrets: [:])
                let end = try await launched.end(of: attempt)
                #expect(end.result == .canceled)
                #expect(end.reason == "changed my mind")
                #expect(access(launched.workspace + "/ran", F_OK) != 0)
            }
        }
    }

    /// A step whose beginning cannot be recorded has no effects, because no daemon would know of it.
    @Suite struct GivenALog {
        /// The secret's first half is printed before the supervisor's line, its second half after it.
        @Test(
            .proves(
                .jobs,
                "Secrets are masked in the log: as they are, as base64 and hexadecimal, wrapped, colored, cut anywhere"),
            .program("perl"))
        func testThatALineOfOursCutsNoSecret() async throws {
            try await withLaunched { launched in
                // given
                let script = """
                    exec perl -e '$| = 1; $SIG{TERM} = sub { print "9c4d-end\\n"; exit 0 }; print "canary-7f3a-";
                    open F, ">ready"; close F; sleep 600'
                    """
                let job = launched.job(script, grace: 20_000, secrets: ["token"])
                let attempt = try launched.prepare(job)
                try await launched.executor.start(attempt, secrets: ["token": "canary-7f3a-9c4d-end"])
                await launched.waitFor("ready")
                // when
                try await launched.executor.cancel(attempt, reason: "of the test", grace: .seconds(20))
                let end = try await launched.end(of: attempt)
                // then
                #expect(end.log == "***\nmartlet: canceled: of the test\n")
            }
        }

        @Test func testThatOneThatWasStoppedHearsACancel() async throws {
            try await withLaunched { launched in
                // given
                let attempt = try launched.prepare(launched.job("touch ready; sleep 1000"))
                try await launched.executor.start(attempt, secrets: [:])
                await launched.waitFor("ready")
                launched.kill(launched.lockOwner(attempt.paths.lock), SIGSTOP)
                // when
                try await launched.executor.cancel(attempt, reason: "of the test", grace: .zero)
                // then
                #expect(try await launched.end(of: attempt).result == .canceled)
            }
        }

        /// Without a sandbox a step sees its supervisor. A script that ends its parent must not count as a stop of the machine.
        @Test func testThatAStepThatEndsItsParentDoesNotStopTheMachine() async throws {
            try await withLaunched { launched in
                // given
                let attempt = try launched.prepare(
                    launched.job(
                        "kill -TERM $PPID; while ! test -e go; do sleep 0.02; done; echo goes on", "echo next"))
                // when
                try await launched.executor.start(attempt, secrets: [:])
                await until("it is said") {
                    // The file does not exist yet.
                    String(decoding: (try? attempt.readLog(from: 0, count: 4096)) ?? [], as: UTF8.self)
                        .contains(", of the job itself, asked the supervisor to end")
                }
                try launched.directory.write("workspace/go", "")
                // then
                let end = try await launched.end(of: attempt)
                #expect(end.result == .completed)
                #expect(end.log.hasSuffix("goes on\nnext\n"))
            }
        }

        /// A process that is not the step's is not killed with it. Meanwhile its output never ends.
        @Test(.proves(.jobs, "A step's end is not held up by who prints on without being the step's"))
        func testThatNobodyElseWhoPrintsOnHoldsUpTheEnd() async throws {
            try await withLaunched { launched in
                // given: a stopped supervisor
                let attempt = launched.attempt()
                try attempt.prepare(launched.job("echo $$ > pid; touch ready; exec sleep 1000", grace: 0))
                try await launched.executor.start(attempt, secrets: [:])
                await launched.waitFor("ready")
                let pid = try #require(Int32(try launched.directory.text("workspace/pid").dropLast()))
                let supervisor = launched.lockOwner(attempt.paths.lock)
                launched.kill(supervisor, SIGSTOP)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<3 {
                        // They exit by SIGPIPE.
                        group.addTask { _ = try await TestSupport.run(["sh", "-c", "exec yes >/proc/\(pid)/fd/1"]) }
                    }
                    let output = open("/proc/\(pid)/fd/1", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
                    // It takes long to empty: fcntl(2), F_SETPIPE_SZ.
                    #expect(clinux_fcntl(output, 1031, 1 << 20) >= 1 << 20)
                    await until("the pipe is full") {
                        var bytes: Int32 = 0
                        withUnsafeMutablePointer(to: &bytes) {
                            _ = clinux_ioctl(output, UInt(FIONREAD), UInt(bitPattern: $0))
                        }
                        return bytes > 1_000_000
                    }
                    close(output)
                    // when: not by the executor, which would continue the supervisor
                    try attempt.writeCancel(reason: "of the test", grace: .zero)
                    launched.kill(supervisor, SIGTERM)
                    kill(pid, SIGKILL)
                    // Otherwise it could still be found running, and its exit would not be awaited.
                    await until("the step's process is dead") { !(ProcessTable.entry(of: pid)?.isAlive ?? false) }
                    launched.kill(supervisor, SIGCONT)
                    // then: the remaining bytes, and one read before
                    #expect(try await launched.end(of: attempt).result == .canceled)
                    #expect(attempt.logSize > 0)
                    #expect(attempt.logSize < 2 << 20)
                    try await group.waitForAll()
                }
            }
        }

        @Test(.proves(.jobs, "The log as printed, and its index of 24-byte records"))
        func testThatItIsCappedWithAMarker() async throws {
            try await withLaunched { launched in
                // given
                let job = launched.job("yes", limits: .init(logBytes: 64 * 1024, graceMilliseconds: 200))
                // when
                let end = try await launched.run(job)
                // then
                #expect(end.limit == "log over 64 KiB")
                #expect(end.result == .failed)
                #expect(end.log.contains("\nmartlet: log over 64 KiB; the rest is not kept\n"))
                #expect(end.attempt.logSize < 66 * 1024)
            }
        }

        @Test(.proves(.jobs, "The log as printed, and its index of 24-byte records"))
        func testThatItHasTheBytesAsPrintedAndAnIndexOfThem() async throws {
            try await withLaunched { launched in
                // when
                let end = try await launched.run(launched.job(#"printf 'a\0\377b'"#, #"printf 'c\nd'; echo e >&2"#))
                // then
                let log = try end.attempt.readLog(from: 0, count: 100)
                #expect(log == [0x61, 0, 0xFF, 0x62] + Array("c\nde\n".utf8))
                let index = try end.attempt.readIndex()
                #expect(index.first { $0.step == 1 }?.offset == 4)
                #expect(index.first { $0.step == 1 }?.flags == .continuesLine)
                #expect(index.first?.firstLine == 1)
            }
        }

        @Test(.proves(.triggers, "A secret as `MARTLET_SECRET_NAME`, only for scripts that name it"))
        func testThatSecretsAreInTheEnvironmentAndNowhereElse() async throws {
            try await withLaunched { launched in
                // given
                let job = launched.job(
                    #"echo "is $token"; printf %s "$token" | base64; test -n "$token"; ls /proc/self/fd | wc -l"#,
                    secrets: ["token"])
                // when
                let end = try await launched.run(job, secrets: ["token": "canary-7f3a"])
                // then
                #expect(end.result == .completed)
                #expect(end.log.hasPrefix("is ***\n***"), "\(end.log)")
                #expect(end.log.hasSuffix("\n4\n"), "0, 1, 2 and the listing's own descriptor: \(end.log)")
                let grep = try await run(["grep", "-r", "canary-7f3a", launched.directory.path], in: "/")
                #expect(grep.status == 1, "\(grep.stdout)")
            }
        }

        @Test func testThatAMissingSecretIsOurFault() async throws {
            try await withLaunched { launched in
                let end = try await launched.run(launched.job("true", secrets: ["token"]))
                #expect(end.result == .faulty)
                #expect(end.reason == "the secret token was not given")
            }
        }
    }

    @Suite struct GivenFilesToCollect {
        @Test(.proves(.jobs, "Reports and artifacts collected safely; last week's report is no report"))
        func testThatReportsAndArtifactsAreCopiedAndOldReportsAreNot() async throws {
            try await withLaunched { launched in
                // given
                try launched.directory.write("workspace/build/old.xml", "last week")
                let job = launched.job(
                    "mkdir -p build out/bin; test ! -e build/old.xml && echo new > build/new.xml; "
                        + "echo x > out/bin/tool; chmod +x out/bin/tool",
                    report: ["build/*.xml"], collect: [.init(patterns: ["out/**"], base: "out")])
                // when
                let end = try await launched.run(job)
                // then
                #expect(end.result == .completed)
                let reports = try end.attempt.reports(ofStep: 0)
                #expect(reports.map(\.path) == ["build/new.xml"])
                #expect(try reports.first.map { try end.attempt.read($0, limit: 100) } == Array("new\n".utf8))
                let artifacts = try end.attempt.artifacts()
                #expect(artifacts.map(\.path) == ["bin/tool"])
                #expect(artifacts.first?.isExecutable ?? false)
            }
        }

        @Test(.proves(.jobs, "Reports and artifacts collected safely; last week's report is no report"))
        func testThatLinksPipesAndDevicesAreNeitherFollowedNorWaitedFor() async throws {
            try await withLaunched { launched in
                // given
                let secret = try launched.directory.write("outside/secret.xml", "secret")
                let job = launched.job(
                    "mkdir r; ln -s \(secret) r/link.xml; ln \(secret) r/hard.xml; mkfifo r/pipe.xml; "
                        + "ln -s \(launched.directory.path)/outside dir; echo ok > r/a.xml",
                    report: ["r/*.xml", "dir/*.xml"], collect: [.init(patterns: ["dir/**", "r/**"])])
                // when
                let end = try await launched.run(job)
                // then
                #expect(end.result == .completed)
                #expect(try end.attempt.reports(ofStep: 0).map(\.path) == ["r/a.xml"])
                #expect(try end.attempt.artifacts().map(\.path) == ["r/a.xml"])
                #expect(end.log.contains("r/hard.xml was not copied: it has 2 names"))
                #expect(try launched.directory.text("outside/secret.xml") == "secret")
            }
        }

        @Test func testThatDeletingOldReportsDoesNotReachThroughALink() async throws {
            try await withLaunched { launched in
                try launched.directory.write("outside/kept.xml", "kept")
                symlink(launched.directory.path("outside"), launched.workspace + "/build")
                _ = try await launched.run(launched.job("true", report: ["build/*.xml", "**/*.xml"]))
                #expect(try launched.directory.text("outside/kept.xml") == "kept")
            }
        }

        @Test(
            .proves(.jobs, "Reports and artifacts collected safely; last week's report is no report"),
            arguments: [
                (JobDescription.Limits(fileBytes: 10), "artifacts over 10 bytes"),
                (JobDescription.Limits(files: 2), "artifacts over 2 files"),
            ])
        func testThatTooMuchIsALimit(limits: JobDescription.Limits, text: String) async throws {
            try await withLaunched { launched in
                let job = launched.job(
                    "mkdir o; for i in 1 2 3; do echo 12345 > o/$i; done", limits: limits,
                    collect: [.init(patterns: ["o/*"])])
                let end = try await launched.run(job)
                #expect(end.result == .failed)
                #expect(end.limit == text)
            }
        }

        @Test func testThatAFailedJobLeavesReportsButNoArtifacts() async throws {
            try await withLaunched { launched in
                let job = launched.job(
                    "echo x > a.xml; exit 1", report: ["a.xml"], collect: [.init(patterns: ["a.xml"])])
                let end = try await launched.run(job)
                #expect(try end.attempt.reports(ofStep: 0).map(\.path) == ["a.xml"])
                #expect(try end.attempt.artifacts().isEmpty)
            }
        }
    }

    @Test(
        .proves(.jobs, "The local executor; an isolation that is not known is refused"),
        arguments: ["docker", "NONE", ""])
    func testThatAnUnknownSandboxIsRefused(isolation: String) async throws {
        try await withLaunched { launched in
            // given
            let attempt = launched.attempt()
            try attempt.prepare(launched.job("touch ran"))
            let text = try launched.directory.text("attempt/job.json")
            try launched.directory.write(
                "attempt/job.json", text.replacing(#""isolation":"none""#, with: #""isolation":"\#(isolation)""#))
            // when
            try await launched.executor.start(attempt, secrets: [:])
            // then
            let end = try await launched.end(of: attempt)
            #expect(end.result == .faulty)
            #expect(end.reason?.contains("this program knows only none, sandbox") ?? false, "\(end.reason ?? "")")
            #expect(access(launched.workspace + "/ran", F_OK) != 0)
        }
    }

    @Test func testThatAWorkspaceThatIsNotThereIsOurFault() async throws {
        try await withLaunched { launched in
            var job = launched.job("true")
            job.workspace = "/nonexistent"
            let end = try await launched.run(job)
            #expect(end.result == .faulty)
        }
    }
}
