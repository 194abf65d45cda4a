import Glibc
import TestSupport
import Testing

@Suite struct StartedProgramTests {
    /// nohup(1) leaves SIGHUP ignored in the tests. SIGUSR2, which no process sends, stands for it here.
    @Test func testThatWhatTheTestsIgnoreIsNotIgnoredByIt() async throws {
        try await withTemporaryDirectory { directory in
            // given
            signal(SIGUSR2, SIG_IGN)
            defer { signal(SIGUSR2, SIG_DFL) }
            // when
            let program = try await StartedProgram.start(
                ["/bin/sleep", "1000"], environment: [:], output: directory.path("output"))
            program.signal(SIGUSR2)
            // then
            #expect(try await program.end() == -SIGUSR2)
        }
    }

    @Test func testThatItsOutputIsAppendedAndItsStatusTold() async throws {
        try await withTemporaryDirectory { directory in
            // given
            try directory.write("output", "before\n")
            // when
            let program = try await StartedProgram.start(
                ["/bin/sh", "-c", "pwd; echo $KEY >&2; exit 77"], in: directory.path(""),
                environment: ["KEY": "value"], output: directory.path("output"))
            // then
            #expect(try await program.end() == 77)
            let lines = try directory.text("output").split(separator: "\n")
            #expect(lines.first == "before" && lines.last == "value" && lines.count == 3)
        }
    }

    @Test func testThatOneThatDoesNotEndIsKilledAndIsAnIssue() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let program = try await StartedProgram.start(
                ["/bin/sleep", "1000"], environment: [:], output: directory.path("output"))
            // when
            var status: Int32?
            try await withKnownIssue {
                status = try await program.end(within: .milliseconds(1))
            } matching: {
                $0.description.contains("did not end within")
            }
            // then
            #expect(status == -SIGKILL)
        }
    }

    @Test func testThatAProgramThatIsNotThereIsAnError() async throws {
        _ = try await withTemporaryDirectory { directory in
            await #expect(throws: (any Error).self) {
                try await StartedProgram.start(
                    [directory.path("nothing")], environment: [:], output: directory.path("output"))
            }
        }
    }
}
