import Execution
import Glibc
import JobProtocol
import TestSupport
import Testing

@Suite struct PrivateLauncherTests {
    @Test func testThatItRunsJobsAndLeavesNothing() async throws {
        try await withPrivate { launched, launcher in
            // given
            let attempt = launched.attempt()
            try attempt.prepare(launched.job("true"))
            // when
            try await launcher.executor.start(attempt, secrets: [:])
            let end = try await launched.end(of: attempt)
            await launcher.end()
            // then
            #expect(end.result == .completed)
            #expect(access(launched.socket, F_OK) != 0)
            await #expect {
                try await launcher.executor.start(launched.attempt("later"), secrets: [:])
            } throws: { ($0 as? ExecutionError)?.code == .noLauncher }
        }
    }

    @Test(
        .proves(
            .programs,
            "Ctrl-C cancels `martlet run`, a second one kills, and no process outlives it, also if it is killed itself")
    )
    func testThatItsEndKillsWhatRuns() async throws {
        try await withPrivate { launched, launcher in
            // given
            let (attempt, pid) = try await stubborn(launched, launcher)
            #expect(ProcessTable.entry(of: pid)?.isAlive ?? false)
            // when
            await launcher.end()
            // then: the supervisor may have stored the end of its step before it was killed itself
            #expect(!(ProcessTable.entry(of: pid)?.isAlive ?? false))
            #expect([.lost, .finished].contains(try await launched.executor.liveness(of: attempt)))
        }
    }

    /// A killed launcher may still be killing its children, while it holds the lock.
    @Test func testThatItWaitsForTheOneBeforeAndIsNeverThatOne() async throws {
        try await withPrivate { launched, first in
            // given
            let supervisor = try TestTools.builtProduct("martlet-supervisor")
            let socket = launched.socket
            let starting = Task { try await PrivateLauncher(socket: socket, supervisor: supervisor) }
            // when
            await until("the second one is there") { launched.directory.processes(withArgument: socket).count == 2 }
            await first.end()
            let second = try await starting.value
            // then
            let attempt = launched.attempt()
            try attempt.prepare(launched.job("true"))
            try await second.executor.start(attempt, secrets: [:])
            #expect(try await launched.end(of: attempt).result == .completed)
            await second.end()
        }
    }

    @Test(
        .proves(
            .programs,
            "Ctrl-C cancels `martlet run`, a second one kills, and no process outlives it, also if it is killed itself")
    )
    func testThatNothingOutlivesALauncherThatIsKilled() async throws {
        try await withPrivate { launched, launcher in
            // given
            let (_, pid) = try await stubborn(launched, launcher)
            // when
            launched.kill(launched.lockOwner(launched.socket + ".lock"), SIGKILL)
            // then
            await until("the job's end") { !(ProcessTable.entry(of: pid)?.isAlive ?? false) }
            await launcher.end()
        }
    }

    @Test func testThatAProgramThatCannotListenIsSaid() async throws {
        try await withTemporaryDirectory { directory in
            for (program, sentence) in [
                ("/no/martlet-supervisor", "No such file"), ("/bin/true", "it ended before it listened"),
            ] {
                await #expect {
                    _ = try await PrivateLauncher(socket: directory.path("s"), supervisor: program)
                } throws: { error in
                    (error as? ExecutionError)?.code == .noLauncher && "\(error)".contains(sentence)
                }
            }
        }
    }

    /// Starts a job with a process in a session of its own that ignores SIGTERM.
    private func stubborn(
        _ launched: Launched, _ launcher: PrivateLauncher
    ) async throws -> (attempt: AttemptDirectory, pid: Int32) {
        let attempt = launched.attempt()
        try attempt.prepare(
            launched.job(
                "setsid sh -c 'echo $$ > pid; touch ready; trap \"\" TERM; while :; do sleep 1; done' & wait"))
        try await launcher.executor.start(attempt, secrets: [:])
        await launched.waitFor("ready")
        let pid = try #require(Int32(try launched.directory.text("workspace/pid").split(separator: "\n")[0]))
        return (attempt, pid)
    }

    private func withPrivate(_ body: (Launched, PrivateLauncher) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let supervisor = try TestTools.builtProduct("martlet-supervisor")
            let socket = directory.path("launcher.sock")
            let launcher = try await PrivateLauncher(socket: socket, supervisor: supervisor)
            let launched = Launched(
                directory: directory, executor: launcher.executor, socket: socket,
                workspace: try directory.makeDirectory("workspace"), user: .own, supervisor: supervisor)
            let result: Result<Void, any Error>
            do { result = .success(try await body(launched, launcher)) } catch { result = .failure(error) }
            await launcher.end()
            try result.get()
        }
    }
}

extension TemporaryDirectory {
    /// Returns running processes with a text among their arguments.
    fileprivate func processes(withArgument text: String) -> [Int32] {
        ProcessTable.all().filter(\.isAlive).map(\.pid).filter { pid in
            String(decoding: SmallFile.read("/proc/\(pid)/cmdline", limit: 1 << 16) ?? [], as: UTF8.self).contains(text)
        }
    }
}
