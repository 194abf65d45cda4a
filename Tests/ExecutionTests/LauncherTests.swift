import Basics
import Execution
import Foundation
import Glibc
import JobProtocol
import TestSupport
import Testing

@Suite struct LauncherTests {
    @Test(.proves(.jobs, "`martlet-supervisor` as launcher, which outlives the daemon"))
    func testThatItsEndDoesNotTouchWhatItStarted() async throws {
        try await withLaunched { launched in
            // given
            let attempt = launched.attempt()
            try attempt.prepare(launched.job("touch ready; while ! test -e go; do sleep 0.02; done"))
            try await launched.executor.start(attempt, secrets: [:])
            await launched.waitFor("ready")
            let first = try #require(launched.lockOwner(launched.socket + ".lock"))
            // when
            launched.kill(first, SIGKILL)
            await until("the launcher is gone") { !first.isAlive }
            // then
            #expect(try await launched.executor.liveness(of: attempt) == .running)
            try launched.directory.write("workspace/go", "")
            #expect(try await launched.end(of: attempt).result == .completed)
            // The socket that it left is replaced
            #expect(try await launched.run(launched.job("true"), name: "second").result == .completed)
            #expect(launched.lockOwner(launched.socket + ".lock") != first)
        }
    }

    /// The directory was removed while the first launcher ran.
    @Test(.proves(.jobs, "A launcher's end leaves the socket of another, whose directory was made anew"))
    func testThatItsEndLeavesAnothersSocket() async throws {
        try await withLaunched { launched in
            // given
            _ = try await launched.run(launched.job("true"), name: "first")
            let first = try #require(launched.lockOwner(launched.socket + ".lock"))
            for path in [launched.socket, launched.socket + ".lock"] { unlink(path) }
            _ = try await launched.run(launched.job("true"), name: "second")
            #expect(launched.lockOwner(launched.socket + ".lock") != first)
            // when
            launched.kill(first, SIGTERM)
            await until("the first launcher is gone") { !first.isAlive }
            // then
            #expect(access(launched.socket, F_OK) == 0)
            #expect(try await launched.run(launched.job("true"), name: "third").result == .completed)
        }
    }

    private static func isAlive(_ pid: Int32) -> Bool { ProcessTable.entry(of: pid)?.isAlive ?? false }

    /// Starts a job with a process in a session of its own, which only the supervisor's end would end.
    /// - Returns: The id of that process too, once it runs.
    private func startJobThatLeavesAProcess(
        _ launched: Launched
    ) async throws -> (attempt: AttemptDirectory, process: Int32) {
        let attempt = launched.attempt()
        try attempt.prepare(launched.job("setsid sh -c 'echo $$ > pid; touch ready; exec sleep 1000' & sleep 1000"))
        try await launched.executor.start(attempt, secrets: [:])
        await launched.waitFor("ready")
        let text = try launched.directory.text("workspace/pid")
        return (attempt, try #require(Int32(text.trimmingPrefix(" ").split(separator: "\n").first ?? "")))
    }

    @Test func testThatWhatAKilledSupervisorLeavesIsEnded() async throws {
        try await withLaunched { launched in
            // given
            let (attempt, pid) = try await startJobThatLeavesAProcess(launched)
            #expect(Self.isAlive(pid))
            // when
            launched.kill(launched.lockOwner(attempt.paths.lock), SIGKILL)
            // then
            await until("the orphan is gone") { !Self.isAlive(pid) }
            #expect(try await launched.executor.liveness(of: attempt) == .lost)
        }
    }

    /// It takes the 10 s after which a launcher searches for processes that none of its children has left.
    @Test(
        .proves(
            .jobs,
            "What launcher and supervisor leave that are killed together is ended by the next launcher, where there are control groups"
        ), .memoryGroup)
    func testThatWhatIsLeftWithoutLauncherAndSupervisorIsEndedByTheNext() async throws {
        try await withLaunched { launched in
            // given
            let (attempt, pid) = try await startJobThatLeavesAProcess(launched)
            let first = try #require(launched.lockOwner(launched.socket + ".lock"))
            launched.kill(first, SIGKILL)
            await until("the launcher is gone") { !first.isAlive }
            #expect(try await launched.run(launched.job("true"), name: "second").result == .completed)
            // when: it is not a child of the second launcher
            launched.kill(launched.lockOwner(attempt.paths.lock), SIGKILL)
            // then
            await until("the orphan is gone", limit: TestLimits.wait * 2) { !Self.isAlive(pid) }
        }
    }

    /// A launcher in a process namespace of its own, in the same control group as a supervisor that it does not see.
    private struct Unseen {
        let supervisor: StartedProgram
        let group: String
        let directory: TemporaryDirectory

        /// Runs the launcher. It exits when its empty input ends, after it has searched for leftover groups.
        func launch() async throws {
            // A list of version 2, where a process of another process namespace is listed as 0 (cgroups(7)). Version 1 leaves such processes out.
            try directory.write("list", "0\n")
            let result = try await run([
                "setsid", "--wait", "unshare", "--pid", "--fork", "--mount-proc", "sh", "-c",
                // The namespace's first process is immune to its own signals.
                #"mount --bind "$2" "$3" && "$0" --listen "$1" --attached; exit $?"#,
                TestTools.builtProduct("martlet-supervisor"), directory.path("socket"), directory.path("list"),
                group + "/cgroup.procs",
            ])
            #expect(result.status == 0, "\(result.stderr)")
            #expect(result.stdout == "listening\n")
        }
    }

    /// - Parameter suffix: The end of the name of its group, after the supervisor's start time.
    private func withUnseenSupervisor(_ suffix: String, _ body: (Unseen) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let own = try String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8).split(separator: "\n")
                .map { $0.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false) }
                .first { $0.count == 3 && $0[1].split(separator: ",").contains("memory") }
            let above = "/sys/fs/cgroup/memory\(try #require(own)[2])"
            let supervisor = try await StartedProgram.start(
                ["/bin/sleep", "1000"], environment: [:], output: directory.path("output"))
            // Launchers of other tests take it for a running supervisor.
            let startTime = try #require(ProcessTable.entry(of: supervisor.pid)).startTime
            let group = above + "/martlet-job-\(supervisor.pid)-\(startTime)\(suffix)"
            try #require(mkdir(group, 0o755) == 0)
            let result: Result<Void, any Error>
            do {
                result = .success(try await body(Unseen(supervisor: supervisor, group: group, directory: directory)))
            } catch {
                result = .failure(error)
            }
            supervisor.signal(SIGKILL)
            try await supervisor.end()
            // Another launcher may take it for a leftover by now.
            await until("the group is empty") { rmdir(group) == 0 || errno == ENOENT }
            try result.get()
        }
    }

    /// For kill(2), 0 is the caller's own process group. The name is of a version that did not contain the namespace.
    @Test(
        .proves(
            .jobs,
            "A process of another namespace in a control group that was left is not taken for the launcher itself"),
        .memoryGroup)
    func testThatWhoCannotBeNamedIsNotItself() async throws {
        try await withUnseenSupervisor("") { unseen in
            // given: a process outside its namespace, which it must take for gone
            try "\(unseen.supervisor.pid)".write(
                toFile: unseen.group + "/cgroup.procs", atomically: false, encoding: .utf8)
            // when
            try await unseen.launch()
            // then
            #expect(ProcessTable.entry(of: unseen.supervisor.pid)?.isAlive == true)
        }
    }

    /// Between two steps a job's group is empty, and could be removed.
    @Test(.memoryGroup) func testThatGroupsOfAnotherProcessNamespaceAreLeftAlone() async throws {
        // given
        var status = stat()
        try #require(stat("/proc/self/ns/pid", &status) == 0)
        try await withUnseenSupervisor("-\(status.st_ino)") { unseen in
            // when
            try await unseen.launch()
            // then
            #expect(access(unseen.group, F_OK) == 0)
        }
    }

    /// If /proc is mounted with hidepid, a process that may trace no others and is not in its group does not see processes that are hidden or have
    /// more rights.
    @Test(.memoryGroup) func testThatTheGroupOfAHiddenSupervisorIsLeftAlone() async throws {
        try await withUnseenSupervisor("") { unseen in
            // given
            try "\(unseen.supervisor.pid)".write(
                toFile: unseen.group + "/cgroup.procs", atomically: false, encoding: .utf8)
            let socket = unseen.directory.path("socket")
            // when
            let result = try await run(
                [
                    "unshare", "--mount", "sh", "-c",
                    #"mount -t proc -o hidepid=2 proc /proc && exec setpriv --regid 48151 --clear-groups --bounding-set=-sys_ptrace "$@""#,
                    "sh",
                    TestTools.builtProduct("martlet-supervisor"), "--listen", socket, "--attached",
                ])
            // then
            #expect(result.stdout == "listening\n", "\(result.stderr)")
            #expect(ProcessTable.entry(of: unseen.supervisor.pid)?.isAlive == true)
        }
    }

    @Test(.proves(.jobs, "`martlet-supervisor` as launcher, which outlives the daemon"))
    func testThatTwoExecutorsThatStartAtOnceGetOneLauncher() async throws {
        try await withLaunched { launched in
            let supervisor = try TestTools.builtProduct("martlet-supervisor")
            let results = try await withThrowingTaskGroup(of: StatusEvent.Outcome?.self) { group in
                for number in 0..<4 {
                    group.addTask {
                        let attempt = launched.attempt("a\(number)")
                        try attempt.prepare(launched.job("true"))
                        try await LocalExecutor(socket: launched.socket, supervisor: supervisor)
                            .start(attempt, secrets: [:])
                        return try await launched.end(of: attempt).result
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(results == [.completed, .completed, .completed, .completed])
        }
    }

    /// It is killed before it reads the request, or after that.
    @Test(.proves(.jobs, "`martlet-supervisor` as launcher, which outlives the daemon"), arguments: [false, true])
    func testThatOneThatGoesInPlaceOfAnAnswerIsReplaced(isRead: Bool) async throws {
        try await withLaunched { launched in
            // given
            let listening = try UnixSocket.listen(launched.socket)
            // After it is closed its number may be another descriptor's.
            let isClosed = Locked(false)
            async let served: Void = SerialQueue(label: "launcher that goes").run { () throws(JobProtocolError) in
                let client = accept(listening, nil, nil)
                // The listener is closed first, because a client that sees the other end closed asks again at once.
                isClosed.withLock {
                    close(listening)
                    $0 = true
                }
                defer { close(client) }
                if isRead { return _ = try UnixSocket.receive(from: client, limit: LaunchRequest.sizeLimit) }
                var source = pollfd(fd: client, events: Int16(POLLIN), revents: 0)
                poll(&source, 1, UnixSocket.patienceMilliseconds)
            }
            // Without a connection it waits no longer.
            defer { isClosed.withLock { if !$0 { shutdown(listening, Int32(SHUT_RDWR)) } } }
            // when
            let end = try await launched.run(launched.job("true"))
            // then
            #expect(end.result == .completed)
            try await served
        }
    }

    @Test(
        .proves(.jobs, "`martlet-supervisor` as launcher, which outlives the daemon"), arguments: ["000", "022", "077"])
    func testThatItsSocketIsForItsOwnerOnly(umask: String) async throws {
        try await withLaunched { launched in
            // when
            try await runExpectingSuccess([
                "sh", "-c", #"umask "$0"; exec "$1" --listen "$2" --detach"#, umask, launched.supervisor,
                launched.socket,
            ])
            // then
            var status = stat()
            #expect(lstat(launched.socket, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
        }
    }

    @Test func testThatAMissingProgramIsSaid() async throws {
        try await withLaunched { launched in
            let attempt = launched.attempt()
            try attempt.prepare(launched.job("true"))
            let executor = LocalExecutor(socket: launched.socket, supervisor: "/no/martlet-supervisor")
            await #expect {
                try await executor.start(attempt, secrets: [:])
            } throws: { error in
                (error as? ExecutionError)?.code == .noLauncher
            }
        }
    }

    @Test func testThatPreparingWhatWasLaunchedIsRefused() async throws {
        try await withLaunched { launched in
            let job = launched.job("true")
            let end = try await launched.run(job)
            #expect { try end.attempt.prepare(job) } throws: { ($0 as? ExecutionError)?.code == .exists }
        }
    }

    @Suite struct GivenSupervisorsThatWait {
        @Test(
            .proves(
                .jobs,
                "A job does not wait for its supervisor's start: two supervisors wait for jobs, without any secret, and end with the launcher"
            ))
        func testThatOneOfThemTakesTheNextJobUnderItsName() async throws {
            try await withWaiting { launched, waiting in
                // when
                let attempt = launched.attempt("next")
                try attempt.prepare(launched.job("touch ready; while ! test -e go; do sleep 0.02; done"))
                try await launched.executor.start(attempt, secrets: [:])
                await launched.waitFor("ready")
                // then
                let owner = try #require(launched.lockOwner(attempt.paths.lock))
                #expect(waiting.contains(owner.pid))
                let line = SmallFile.read("/proc/\(owner.pid)/cmdline", limit: 8192) ?? []
                #expect(
                    String(decoding: line.prefix { $0 != 0 }, as: UTF8.self)
                        == "martlet-supervisor --attempt \(attempt.path)")
                try launched.directory.write("workspace/go", "")
                #expect(try await launched.end(of: attempt).result == .completed)
            }
        }

        @Test(
            .proves(
                .jobs,
                "A job does not wait for its supervisor's start: two supervisors wait for jobs, without any secret, and end with the launcher"
            ))
        func testThatKilledOnesAreNotAwaited() async throws {
            try await withWaiting { launched, waiting in
                // when
                for pid in waiting { Glibc.kill(pid, SIGKILL) }
                // then
                let end = try await launched.run(launched.job("true"), name: "next")
                #expect(end.result == .completed)
            }
        }

        /// It takes the 10 s of the launcher's patience.
        @Test(.proves(.jobs, "A start that is given up is withdrawn; one that comes late is taken up, or never begins"))
        func testThatOneThatIsTooSlowNeverBeginsAndTheNextTakesTheJob() async throws {
            try await withWaiting { launched, waiting in
                // given: the one that was started first is asked first
                let slow = try #require(
                    waiting.compactMap(ProcessTable.entry(of:)).min { ($0.startTime, $0.pid) < ($1.startTime, $1.pid) }
                ).pid
                Glibc.kill(slow, SIGSTOP)
                // when
                let end = try await launched.run(launched.job("true"), name: "next")
                // then
                #expect(end.result == .completed)
                await until("the slow one is gone") { !(ProcessTable.entry(of: slow)?.isAlive ?? false) }
            }
        }

        @Test(
            .proves(
                .jobs,
                "A job does not wait for its supervisor's start: two supervisors wait for jobs, without any secret, and end with the launcher"
            ))
        func testThatTheyEndWithTheLauncher() async throws {
            try await withWaiting { launched, waiting in
                // when
                launched.kill(launched.lockOwner(launched.socket + ".lock"), SIGKILL)
                // then
                await until("they are gone") { waiting.allSatisfy { !(ProcessTable.entry(of: $0)?.isAlive ?? false) } }
            }
        }

        private func withWaiting(_ body: (Launched, Set<Int32>) async throws -> Void) async throws {
            try await withLaunched { launched in
                // given
                let first = try await launched.run(launched.job("true"), name: "first")
                #expect(first.result == .completed)
                let launcher = try #require(launched.lockOwner(launched.socket + ".lock")).pid
                var waiting: Set<Int32> = []
                await until("two wait") {
                    let found = ProcessTable.descendants(of: launcher).filter { entry in
                        let line = SmallFile.read("/proc/\(entry.pid)/cmdline", limit: 8192) ?? []
                        return entry.isAlive && String(decoding: line, as: UTF8.self).hasSuffix("--wait\0")
                    }
                    waiting = Set(found.map(\.pid))
                    return waiting.count == 2
                }
                try await body(launched, waiting)
            }
        }
    }
}
