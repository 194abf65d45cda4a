import Basics
import Execution
import Glibc
import JobProtocol
import TestSupport
import Testing

/// The daemon's check whether sandboxes work here.
@Suite(.program("bwrap")) struct SandboxProbeTests {
    @Test(.proves(.jobs, "Whether a sandbox works here, why not, and what to install or set"))
    func testThatItFindsThatASandboxWorks() async throws {
        let finding = try await SandboxProbe(supervisor: TestTools.builtProduct("martlet-supervisor")).find()
        #expect(finding.works, "\(finding.reason ?? "")")
        #expect(finding.reason == nil)
    }

    /// The daemon is in a systemd unit that forbids what the launcher's unit allows, and the reverse.
    @Suite struct GivenALauncherThatListens {
        @Test(
            .proves(
                .sandbox,
                "Whether it can work is the launcher's word, whose unit allows what the daemon's forbids; without one that listens, the daemon's own"
            ))
        func testThatItIsAskedAndNotTheSupervisor() async throws {
            try await withLaunched { launched in
                // given
                _ = try await launched.run(launched.job("true"))
                // when
                let finding = try await SandboxProbe(supervisor: "/nonexistent", launcher: launched.socket).find()
                // then
                #expect(finding.works, "\(finding.reason ?? "")")
            }
        }

        @Test(
            .proves(
                .sandbox,
                "Whether it can work is the launcher's word, whose unit allows what the daemon's forbids; without one that listens, the daemon's own"
            ))
        func testThatWhatItMayNotCountsAlthoughThisProcessMay() async throws {
            try await withLaunched { launched in
                // given
                let started = try await run([
                    "unshare", "-Ur", "sh", "-c",
                    "echo 0 > /proc/sys/user/max_user_namespaces; exec \(launched.supervisor) --listen \(launched.socket) --detach",
                ])
                try #require(started.status == 0, "\(started.stderr)")
                // when
                let probe = SandboxProbe(supervisor: launched.supervisor, launcher: launched.socket)
                let finding = try await probe.find()
                // then
                #expect(!finding.works)
                expectContains(finding.reason ?? "", "sysctl -w user.max_user_namespaces=10000")
            }
        }

        /// proc(5): only a process in their group, or one that may trace them, sees other users' processes and those that are not dumpable.
        @Test(.enabled(if: getuid() == 0, "only root mounts /proc"), arguments: ["1", "2"])
        func testThatAProcThatHidesProcessesIsNamed(hidepid: String) async throws {
            try await withTemporaryDirectory { directory in
                // given
                JobUser.give(directory.path)
                try await runExpectingSuccess([
                    "cp", try TestTools.builtProduct("martlet-supervisor"), directory.path("martlet-supervisor"),
                ])
                let probe = JobUser.ordinary.command([directory.path("martlet-supervisor"), "--probe-fence"])
                // when
                let result = try await run(
                    [
                        "unshare", "--mount", "sh", "-c", #"mount -t proc -o "hidepid=$0" proc /proc && exec "$@""#,
                        hidepid,
                    ]
                        + probe, in: "/")
                let finding = try SandboxFinding(json: result.standardOutput.dropLast())
                // then
                #expect(!finding.works)
                #expect(finding.isLasting)
                #expect(finding.reason == SandboxFinding.hiddenProcesses)
            }
        }

        @Test(
            .proves(
                .sandbox,
                "Whether it can work is the launcher's word, whose unit allows what the daemon's forbids; without one that listens, the daemon's own"
            ))
        func testThatOneThatDoesNotKnowTheQuestionIsNamed() async throws {
            try await withTemporaryDirectory { directory in
                // given: a launcher from before sandboxes existed
                let socket = directory.path("launcher.sock")
                let listening = try UnixSocket.listen(socket)
                defer { close(listening) }
                async let answered: Void = SerialQueue(label: "old launcher").run {
                    let client = accept(listening, nil, nil)
                    defer { close(client) }
                    _ = try? UnixSocket.receive(from: client, limit: LaunchRequest.sizeLimit)
                    try? UnixSocket.send(LaunchAnswer.failed("it needs an absolute attempt").json(), to: client)
                }
                // Without a connection it waits no longer.
                defer { shutdown(listening, Int32(SHUT_RDWR)) }
                // when
                let finding = try await SandboxProbe(supervisor: "/nonexistent", launcher: socket).find()
                await answered
                // then
                #expect(!finding.works)
                expectContains(finding.reason ?? "", "the launcher at \(socket) could not try it")
                expectContains(finding.reason ?? "", "it needs an absolute attempt")
            }
        }
    }

    /// Asks a launcher that gives these answers, one per request, until one is final.
    private func found(after answers: [[UInt8]]) async throws -> SandboxFinding {
        try await withTemporaryDirectory { directory in
            let socket = directory.path("launcher.sock")
            let listening = try UnixSocket.listen(socket)
            defer { close(listening) }
            async let answered: Void = SerialQueue(label: "launcher").run {
                for answer in answers {
                    let client = accept(listening, nil, nil)
                    guard client >= 0 else { return }
                    defer { close(client) }
                    _ = try? UnixSocket.receive(from: client, limit: LaunchRequest.sizeLimit)
                    try? UnixSocket.send(answer, to: client)
                }
            }
            let timer = ManualClock()
            let found = Locked<SandboxFinding?>(nil)
            let asking = Task {
                let finding = try await SandboxProbe(supervisor: "/nonexistent", launcher: socket).find(pausing: timer)
                found.withLock { $0 = finding }
            }
            await until("the finding") {
                timer.advance(by: .seconds(10))
                return found.value != nil
            }
            asking.cancel()
            // A launcher that gets fewer requests than it has answers waits no longer.
            shutdown(listening, Int32(SHUT_RDWR))
            await answered
            return try #require(found.value)
        }
    }

    private static let works = SandboxFinding(works: true, reason: nil, limits: .rlimit).json()
    private static let full = LaunchAnswer.failed("try a sandbox: Resource temporarily unavailable").json()
    private static let slow = SandboxFinding(works: false, reason: "it said nothing", limits: .rlimit).json()

    /// A machine may have no process to spare for a moment. The result holds as long as the service runs.
    @Test(
        .proves(
            .sandbox,
            "What may pass and keeps it from working, or a launcher from trying it, is asked again before it counts; what lasts is not"
        ))
    func testThatWhatMayPassIsAskedAgain() async throws {
        #expect(try await found(after: [Self.full, Self.slow, Self.works]).works)
    }

    @Test(
        .proves(
            .sandbox,
            "What may pass and keeps it from working, or a launcher from trying it, is asked again before it counts; what lasts is not"
        ))
    func testThatWhatDoesNotPassIsAnAnswerAtLast() async throws {
        let finding = try await found(after: [Self.slow, Self.slow, Self.full, Self.works])
        #expect(!finding.works)
        expectContains(finding.reason ?? "", "Resource temporarily unavailable")
    }

    @Test(
        .proves(
            .sandbox,
            "What may pass and keeps it from working, or a launcher from trying it, is asked again before it counts; what lasts is not"
        ))
    func testThatWhatLastsIsAskedOnce() async throws {
        let lasting = SandboxFinding(works: false, reason: "no bwrap", limits: .rlimit, isLasting: true)
        #expect(try await found(after: [lasting.json(), Self.works]) == lasting)
    }

    @Test(
        .proves(
            .sandbox,
            "Whether it can work is the launcher's word, whose unit allows what the daemon's forbids; without one that listens, the daemon's own"
        ))
    func testThatWithoutALauncherThatListensThisProcessTries() async throws {
        let supervisor = try TestTools.builtProduct("martlet-supervisor")
        let finding = try await SandboxProbe(supervisor: supervisor, launcher: "/nonexistent/launcher.sock").find()
        #expect(finding.works, "\(finding.reason ?? "")")
    }

    @Test func testThatASupervisorThatIsNotThereIsAnError() async throws {
        await expectRejection(ExecutionError.self, \.code, .notStarted) {
            _ = try await SandboxProbe(supervisor: "/nonexistent/martlet-supervisor").find()
        }
    }

    /// In a separate namespace, in which no other can be made.
    @Test(.proves(.jobs, "Whether a sandbox works here, why not, and what to install or set"))
    func testThatItSaysWhatSwitchedUserNamespacesOff() async throws {
        let supervisor = try TestTools.builtProduct("martlet-supervisor")
        // when
        let result = try await run([
            "unshare", "-Ur", "sh", "-c",
            "echo 0 > /proc/sys/user/max_user_namespaces; exec \(supervisor) --probe-fence",
        ])
        // then
        let finding = try SandboxFinding(json: result.standardOutput.dropLast())
        #expect(result.status == 1)
        #expect(!finding.works)
        #expect(
            finding.reason?.contains("sysctl -w user.max_user_namespaces=10000") ?? false, "\(finding.reason ?? "")")
        #expect(finding.isLasting)
    }

    /// On a machine without bwrap in /usr.
    @Test(.proves(.jobs, "Whether a sandbox works here, why not, and what to install or set"))
    func testThatItSaysWhatToInstall() async throws {
        try await withTemporaryDirectory { directory in
            let supervisor = try TestTools.builtProduct("martlet-supervisor")
            try await runExpectingSuccess(["cp", supervisor, directory.path("supervisor")])
            // when
            let result = try await run([
                "unshare", "-Urm", "sh", "-c",
                "mount -t tmpfs none /usr/bin 2>/dev/null; exec \(directory.path)/supervisor --probe-fence",
            ])
            // then
            let finding = try SandboxFinding(json: result.standardOutput.dropLast())
            #expect(result.status == 1)
            #expect(finding.reason?.contains("apt-get install bubblewrap") ?? false, "\(finding.reason ?? "")")
            #expect(finding.isLasting)
        }
    }
}
