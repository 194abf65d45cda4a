import Basics
import Execution
import Foundation
import Glibc
import JobProtocol
import TestSupport
import Testing

/// The view of a sandboxed step, and the report of its end. What it must not reach is in `Threats`.
@Suite(.program("bwrap")) struct SandboxTests {
    @Suite struct GivenAnyUser {
        @Test(
            .proves(
                .jobs,
                "`isolation: sandbox`: each step in bubblewrap, with its workspace, a private `/tmp` and home, and a read-only root"
            ), arguments: JobUser.possible)
        func testThatAStepSeesItsWorkspaceAndLittleElse(user: JobUser) async throws {
            try await withLaunched(as: user) { launched in
                // given
                let script = """
                    pwd; id -u; id -un; echo $HOME; hostname; ls -A / | tr '\\n' ' '; echo
                    touch made "$HOME/made" /tmp/made /dev/shm/made && echo writes
                    ls -A /proc/self/fd | wc -l; grep -E 'CapEff|CapBnd|NoNewPrivs|Seccomp:' /proc/self/status | tr -s '\\t\\n' ' '
                    """
                // when
                let end = try await launched.run(launched.sandboxed(script))
                // then
                #expect(
                    end.log
                        == """
                        /martlet/kit
                        1000
                        martlet
                        /home/martlet
                        martlet
                        bin dev etc home lib \(Self.moreLibraries)martlet proc run sbin sys tmp usr var \

                        writes
                        4
                        CapEff: 0000000000000000 CapBnd: 0000000000000000 NoNewPrivs: 1 Seccomp: 2 \

                        """.replacing("Seccomp: 2 \n", with: "Seccomp: 2 "))
                #expect(end.result == .completed)
                #expect(access(launched.workspace + "/made", F_OK) == 0)
            }
        }

        private static var moreLibraries: String {
            ["lib32", "lib64", "libx32"].filter { access("/" + $0, F_OK) == 0 }.map { $0 + " " }.joined()
        }

        @Test(
            .proves(
                .jobs,
                "`isolation: sandbox`: each step in bubblewrap, with its workspace, a private `/tmp` and home, and a read-only root"
            ), arguments: JobUser.possible)
        func testThatOnlyWhatItMayWriteCanBeWritten(user: JobUser) async throws {
            try await withLaunched(as: user) { launched in
                // given
                try launched.directory.write("workspace/.git/HEAD", "ref: refs/heads/main\n")
                let places = [
                    "/x", "/usr/x", "/etc/x", "/etc/passwd", "/dev/x", "/run/x", "/home/x", "/martlet/x", ".git/x",
                ]
                let script = places.map { "touch \($0) 2>/dev/null && echo wrote \($0)" }.joined(separator: "; ")
                // when
                let end = try await launched.run(
                    launched.sandboxed(script + "; rm -rf .git 2>/dev/null; mv .git away 2>/dev/null; cat .git/HEAD"))
                // then
                #expect(end.log == "ref: refs/heads/main\n")
            }
        }

        @Test(
            .proves(.jobs, "A sandboxed step's true end, its grace, its reports and artifacts"),
            arguments: JobUser.possible)
        func testThatItsTrueEndIsTold(user: JobUser) async throws {
            for (script, ended) in [
                ("exit 137", "exit 137"), ("kill -9 $$", "signal 9"), ("kill -SEGV $$", "signal 11"),
                ("exit 0", "exit 0"),
                ("setsid sleep 1000 & exit 3", "exit 3"), ("exec >&- 2>&-; sleep 0.1; exit 5", "exit 5"),
            ] {
                try await withLaunched(as: user) { launched in
                    let end = try await launched.run(launched.sandboxed(script))
                    #expect(end.step(0) == ended, "\(script): \(end.log)")
                }
            }
        }

        /// The kernel ends the job first if the machine has no memory left.
        @Test(arguments: JobUser.possible) func testThatItYieldsTheMachinesMemory(user: JobUser) async throws {
            try await withLaunched(as: user) { launched in
                let end = try await launched.run(
                    launched.sandboxed("cat /proc/self/oom_score_adj /proc/1/oom_score_adj"))
                #expect(end.log == "1000\n1000\n")
            }
        }

        /// If the machine cannot start a step, the step has not failed. Here its supervisor may open no more files.
        @Test(
            .proves(
                .jobs,
                "What is the machine's fault is not a step's: a sandbox that cannot be made, memory that the machine has not, a disk that takes no more"
            ))
        func testThatASandboxThatCannotBeMadeIsNoFaultOfTheStep() async throws {
            try await withLaunched { launched in
                // given
                let attempt = try launched.prepare(
                    launched.sandboxed("touch ready; while [ ! -f go ]; do sleep 0.02; done", "true"))
                try await launched.executor.start(attempt, secrets: [:])
                await launched.waitFor("ready")
                let supervisor = try #require(launched.lockOwner(attempt.paths.lock))
                // when
                try await runExpectingSuccess(["prlimit", "--pid", "\(supervisor.pid)", "--nofile=14:14"])
                try launched.directory.write("workspace/go", "")
                let end = try await launched.end(of: attempt)
                // then
                #expect(end.result == .faulty)
                expectContains(end.reason ?? "", "Too many open files")
            }
        }

        @Test(
            .proves(.jobs, "A sandboxed step's true end, its grace, its reports and artifacts"),
            arguments: JobUser.possible)
        func testThatItIsGivenTimeToEndInOrder(user: JobUser) async throws {
            try await withLaunched(as: user) { launched in
                // given: time enough to be ready
                let timeout = TestLimits.passing(milliseconds: 2000)
                var job = launched.sandboxed(
                    "trap 'echo cleaning; exit 9' TERM; echo ready; while :; do sleep 0.05; done", timeout: timeout)
                job.limits.graceMilliseconds = 60_000
                // when
                let end = try await launched.run(job)
                // then
                #expect(end.step(0) == "exit 9 testing exceeded \(Launched.words(timeout))")
                #expect(end.log.contains("cleaning"))
            }
        }
    }

    @Suite(.proves(.jobs, "A sandboxed step that failed with its `/tmp`, `/dev/shm` or home full says so as its limit"))
    struct GivenAFullPlace {
        @Test(arguments: [
            ("head -c 100M /dev/zero > /tmp/a", "exit 1 /tmp over 64 MiB"),
            ("head -c 100M /dev/zero > /dev/shm/a", "exit 1 /dev/shm over 64 MiB"),
            ("head -c 20M /dev/zero > ~/a; exit 7", "exit 7 /home/martlet over 16 MiB"),
            ("head -c 20M /dev/zero > ~/a; kill -9 $$", "signal 9 /home/martlet over 16 MiB"),
        ]) func testThatAFailureSaysWhichLimitItReached(script: String, ended: String) async throws {
            try await withLaunched { launched in
                // when
                let end = try await launched.run(launched.sandboxed(script))
                // then
                #expect(end.step(0) == ended, "\(end.log)")
                expectContains(end.log, String(ended.split(separator: " ", maxSplits: 2)[2]) + "\n")
            }
        }

        @Test(arguments: [
            ("head -c 20M /dev/zero > ~/a; exit 0", "exit 0"),
            ("head -c 20M /dev/zero > ~/a; rm ~/a; exit 3", "exit 3"),
            ("head -c 15M /dev/zero > ~/a; exit 3", "exit 3"),
        ]) func testThatASuccessAndAPlaceWithRoomSayNothingOfIt(script: String, ended: String) async throws {
            try await withLaunched { launched in
                let end = try await launched.run(launched.sandboxed(script))
                #expect(end.step(0) == ended, "\(end.log)")
            }
        }
    }

    @Suite struct GivenSteps {
        @Test(
            .proves(
                .jobs,
                "`isolation: sandbox`: each step in bubblewrap, with its workspace, a private `/tmp` and home, and a read-only root"
            ))
        func testThatEachHasATemporaryDirectoryAndAHomeOfItsOwn() async throws {
            try await withLaunched { launched in
                let end = try await launched.run(
                    launched.sandboxed("echo 1 > /tmp/a; echo 1 > ~/a; echo 1 > a", "ls -A /tmp ~; cat a"))
                #expect(end.log == "/home/martlet:\n\n/tmp:\n1\n")
            }
        }

        @Test(
            .proves(
                .jobs,
                "`HOME` is the same directory in all steps of a job, empty at its beginning, gone at its end, and counted with the workspace"
            ), arguments: JobUser.possible)
        func testThatTheHomeOfAJobIsThatOfAllItsSteps(user: JobUser) async throws {
            try await withLaunched(as: user) { launched in
                // given
                let home = try launched.makeHome()
                var job = launched.sandboxed(
                    "echo 1 > ~/a; mkdir ~/.config; echo 2 > ~/.config/b; echo $HOME",
                    "cat ~/a ~/.config/b; ls -A /tmp; echo 3 > ~/c", "ls -A ~; getent passwd martlet | cut -d: -f6")
                job.sandbox?.homeDirectory = home
                // when
                let end = try await launched.run(job)
                // then
                #expect(end.log == "/home/martlet\n1\n2\n.config\na\nc\n/home/martlet\n")
                #expect(end.result == .completed)
                #expect(access(home + "/a", F_OK) == 0)
            }
        }

        @Test(
            .proves(
                .jobs,
                "`HOME` is the same directory in all steps of a job, empty at its beginning, gone at its end, and counted with the workspace"
            ))
        func testThatAJobsHomeCountsWithItsWorkspace() async throws {
            try await withLaunched { launched in
                // given: neither of the two alone is over the limit
                var job = launched.sandboxed(
                    "head -c 3M /dev/urandom > a; head -c 3M /dev/urandom > ~/a; sleep 60",
                    limits: .init(graceMilliseconds: 200, workspaceBytes: 5 << 20))
                job.sandbox?.homeDirectory = try launched.makeHome()
                // when
                let end = try await launched.run(job)
                // then
                #expect(end.limit == "workspace over 5 MiB")
            }
        }

        @Test func testThatWhatIsShownNeverLeadsToAJobsHome() async throws {
            try await withLaunched { launched in
                // given
                let home = try launched.makeHome()
                var job = launched.sandboxed("true", readOnly: [home])
                job.sandbox?.homeDirectory = home
                // when
                let end = try await launched.run(job)
                // then
                #expect(end.result == .faulty)
                expectContains(end.reason ?? "", "must not be shown in a sandbox")
            }
        }

        @Test func testThatAHomeThatIsNotThereIsNoFaultOfTheJob() async throws {
            try await withLaunched { launched in
                // given
                var job = launched.sandboxed("true")
                job.sandbox?.homeDirectory = launched.directory.path("missing")
                // when
                let end = try await launched.run(job)
                // then
                #expect(end.result == .faulty)
                expectContains(end.reason ?? "", "cannot be opened: No such file or directory")
            }
        }

        @Test func testThatTheirSecretsAreInTheEnvironmentAndNowhereElse() async throws {
            try await withLaunched { launched in
                // given
                var job = launched.sandboxed(
                    "test ${#token} = 11 && echo \"is $token\"", "echo \"no ${token:-token}\"")
                job.steps[0].secrets = ["token"]
                // when
                let end = try await launched.run(job, secrets: ["token": "canary-7f3a"])
                // then
                #expect(end.log == "is ***\nno token\n")
                let attempt = try Directory(opening: end.attempt.path)
                try attempt.walk(".", limit: 1000) { path, status in
                    guard status.kind == .file else { return }
                    let bytes = try attempt.read(path, limit: 1 << 20)
                    #expect(
                        bytes.firstRange(of: Array("canary-7f3a".utf8)) == nil,
                        "\(String(decoding: path, as: UTF8.self))"
                    )
                }
            }
        }

        @Test func testThatNoProcessOfOursShowsTheirSecrets() async throws {
            try await withLaunched { launched in
                // given
                var job = launched.sandboxed("touch ready; while [ ! -f go ]; do sleep 0.02; done")
                job.steps[0].secrets = ["token"]
                let attempt = try launched.prepare(job)
                try await launched.executor.start(attempt, secrets: ["token": "canary-7f3a"])
                await launched.waitFor("ready")
                // when
                let supervisor = try #require(launched.lockOwner(attempt.paths.lock)).pid
                var shown: [String: String] = [:]
                for entry in ProcessTable.descendants(of: supervisor) + [
                    try #require(ProcessTable.entry(of: supervisor))
                ] {
                    for name in ["cmdline", "environ"] {
                        let bytes = SmallFile.read("/proc/\(entry.pid)/\(name)", limit: 1 << 20) ?? []
                        shown["\(entry.pid) \(name)"] = String(decoding: bytes, as: UTF8.self)
                    }
                }
                try launched.directory.write("workspace/go", "")
                let end = try await launched.end(of: attempt)
                // then: the step's own environment alone
                #expect(end.result == .completed)
                #expect(shown.count >= 8)
                for (place, text) in shown where text.contains("canary-7f3a") {
                    #expect(place.hasSuffix("environ") && text.contains("MARTLET_TEST_CANARY"), "\(place): \(text)")
                }
            }
        }

        @Test func testThatWhatAnEnvironmentSaysDoesNotReachBubblewrap() async throws {
            try await withLaunched { launched in
                // given: a path that exists only outside of the sandbox, to which a program's loader writes on request
                let place = launched.workspace + "/loaded"
                var job = launched.sandboxed("echo fenced")
                job.steps[0].environment = [
                    "LD_DEBUG": "files", "LD_DEBUG_OUTPUT": place, "PATH": "/martlet/kit:/usr/bin",
                ]
                try launched.directory.write(
                    "workspace/bwrap", "#!/bin/sh\ntouch \(launched.directory.path)/escaped\n", mode: 0o755)
                // when
                let end = try await launched.run(job)
                // then
                #expect(end.log.contains("fenced\n"), "\(end.log)")
                #expect(end.log.contains("file=libc.so"), "the step's own loader was told: \(end.log)")
                let names = try FileManager.default.contentsOfDirectory(atPath: launched.workspace)
                #expect(!names.contains { $0.hasPrefix("loaded") }, "\(names)")
                #expect(access(launched.directory.path("escaped"), F_OK) != 0)
            }
        }
    }

    @Suite struct GivenPathsOfTheHost {
        @Test func testThatTheyAreSeenReadOnlyAtTheirPlaceAndUnderTheirRealName() async throws {
            try await withTemporaryDirectory { host in
                try host.write("tool/bin/hello", "#!/bin/sh\necho hello\n", mode: 0o755)
                symlink(host.path("tool"), host.path("current"))
                try await withLaunched { launched in
                    let end = try await launched.run(
                        launched.sandboxed(
                            "\(host.path)/current/bin/hello; \(host.path)/tool/bin/hello; touch \(host.path)/tool/x",
                            readOnly: [host.path("current")]))
                    #expect(end.log.hasPrefix("hello\nhello\n"), "\(end.log)")
                    #expect(end.log.contains("Read-only file system"))
                }
            }
        }

        @Test func testThatOneThatLeadsToTheJobsOwnDirectoriesIsRefused() async throws {
            for name in ["", "attempt", "workspace"] {
                try await withLaunched { launched in
                    let path = name.isEmpty ? launched.directory.path : launched.directory.path(name)
                    let end = try await launched.run(launched.sandboxed("touch ran", readOnly: [path]))
                    #expect(end.result == .faulty)
                    #expect(end.reason?.contains("must not be shown in a sandbox") ?? false, "\(end.reason ?? "")")
                    #expect(access(launched.workspace + "/ran", F_OK) != 0)
                }
            }
        }

        @Test func testThatOneThatLeadsToAWorkspaceBehindALinkIsRefused() async throws {
            try await withTemporaryDirectory { host in
                try host.makeDirectory("data/workspace")
                symlink(host.path("data"), host.path("state"))
                try await withLaunched { launched in
                    var job = launched.sandboxed("true", readOnly: [host.path("data")])
                    job.workspace = host.path("state/workspace")
                    let end = try await launched.run(job)
                    #expect(end.result == .faulty)
                    expectContains(
                        end.reason ?? "", "must not be shown in a sandbox: it leads to \(host.path)/data/workspace")
                }
            }
        }

        @Test func testThatOneThatIsNotThereIsOurFault() async throws {
            try await withLaunched { launched in
                let end = try await launched.run(launched.sandboxed("true", readOnly: ["/nonexistent"]))
                #expect(end.result == .faulty)
                #expect(end.reason?.contains("/nonexistent, which the sandbox shows read-only, is not there") ?? false)
            }
        }
    }

    @Test func testThatASandboxThatCannotBeMadeIsOurFaultAndSaysWhy() async throws {
        try await withLaunched { launched in
            // given
            var job = launched.sandboxed("touch ran")
            job.mountedAt = "/usr/share/no-such-place"
            // when
            let end = try await launched.run(job)
            // then
            #expect(end.result == .faulty)
            #expect(end.reason?.hasPrefix("the sandbox could not be made: ") ?? false, "\(end.reason ?? "")")
            #expect(
                end.reason?.contains("/usr/share/no-such-place: Read-only file system") ?? false, "\(end.reason ?? "")")
            #expect(access(launched.workspace + "/ran", F_OK) != 0)
        }
    }

    @Test(.proves(.jobs, "A sandboxed step's true end, its grace, its reports and artifacts"))
    func testThatReportsAndArtifactsAreCollectedAsWithoutASandbox() async throws {
        try await withLaunched { launched in
            // given
            let job = launched.sandboxed(
                "mkdir out; echo r > out/r.xml; echo a > out/a; ln -s /etc/passwd out/link", report: ["out/*.xml"],
                collect: [.init(patterns: ["out/**"], base: "out")])
            // when
            let end = try await launched.run(job)
            // then
            #expect(try end.attempt.reports(ofStep: 0).map(\.path) == ["out/r.xml"])
            #expect(try end.attempt.artifacts().map(\.path).sorted() == ["a", "r.xml"])
            #expect(end.log.contains("out/link was not copied: it is a link"))
        }
    }
}
