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

    @Test func testThatItsEndKillsWhatRuns() async throws {
        try await withPrivate { launched, launcher in
            // given
            let attempt = launched.attempt()
            try attempt.prepare(
                launched.job(
                    "setsid sh -c 'echo $$ > pid; touch ready; trap \"\" TERM; while :; do sleep 1; done' & wait"))
            try await launcher.executor.start(attempt, secrets: [:])
            await launched.waitFor("ready")
            let pid = try #require(Int32(try launched.directory.text("workspace/pid").split(separator: "\n")[0]))
            #expect(ProcessTable.entry(of: pid)?.isAlive ?? false)
            // when
            await launcher.end()
            // then
            #expect(!(ProcessTable.entry(of: pid)?.isAlive ?? false))
            #expect(try await launched.executor.liveness(of: attempt) == .lost)
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
