import Foundation
import TestSupport
import Testing

/// `martlet drain --wait`, as before a reboot.
@Suite struct DrainTests {
    /// Runs a test while a job of `kit#1` builds and `drain --wait` waits for it.
    private func withWaitingDrain(_ body: (Daemon, StartedProgram) async throws -> Void) async throws {
        try await withDaemon { daemon in
            // given
            try await WaitingProject.push(daemon)
            await until("the job") { WaitingProject.isBuilding(daemon) }
            let output = daemon.directory.path("drain")
            let drain = try await StartedProgram.start(
                [try TestTools.builtProduct("martlet"), "drain", "--wait", "--reason", "a new kernel"],
                environment: ["PATH": "/usr/bin:/bin", "HOME": daemon.directory.path, "MARTLET_URL": daemon.socket],
                output: output)
            await until("it waits") {
                (try? daemon.directory.text("drain")) == "1 integration still running\n"
            }
            var failure: (any Error)?
            do { try await body(daemon, drain) } catch { failure = error }
            // Without the file the job would never end.
            try daemon.directory.write("go", "")
            if let failure { throw failure }
        }
    }

    @Test(
        .proves(
            .intake, "A drain lets what runs go on to its end, and `martlet drain --wait` returns when nothing runs"))
    func testThatItReturnsWhenTheLastJobHasEnded() async throws {
        try await withWaitingDrain { daemon, drain in
            // given: one that waits, and is not waited for
            #expect(try await daemon.martlet("integrate", "kit").status == 0)
            #expect(ProcessWatch.isRunning(drain.pid))
            // when
            try daemon.directory.write("go", "")
            // then
            #expect(try await drain.end() == 0)
            let lines = try daemon.directory.text("drain").split(separator: "\n")
            #expect(lines.count == 3)
            expectContains(String(lines[1]), "the service is drained since ")
            #expect(lines[1].hasSuffix(": a new kernel"))
            #expect(lines.last == "nothing runs")
            expectContains(try await daemon.completion(of: 1), #""result":"succeeded""#)
            expectContains(try await daemon.get("/api/v1/bots/kit/integrations/2").body, #""state":"queued""#)
            // when: it is asked again, and no job runs
            let again = try await daemon.martlet("drain", "--wait", "--json")
            // then
            #expect(again.status == 0)
            expectContains(again.stdout, #""running":0,"drained":true"#)
            // when
            #expect(try await daemon.martlet("resume").status == 0)
            // then
            expectContains(try await daemon.completion(of: 2), #""result":"succeeded""#)
        }
    }

    @Test(
        .proves(
            .intake, "A drain lets what runs go on to its end, and `martlet drain --wait` returns when nothing runs"))
    func testThatItFailsIfSomebodyResumesMeanwhile() async throws {
        try await withWaitingDrain { daemon, drain in
            // when
            #expect(try await daemon.martlet("resume").status == 0)
            // then
            #expect(try await drain.end() == 1)
            expectContains(try daemon.directory.text("drain"), "the drain was ended while integrations ran")
        }
    }

    @Test(
        .proves(
            .intake, "A drain lets what runs go on to its end, and `martlet drain --wait` returns when nothing runs"))
    func testThatItWaitsAcrossARestartOfTheDaemon() async throws {
        try await withWaitingDrain { daemon, drain in
            // when
            try await daemon.stop()
            try await daemon.start()
            // then
            #expect(ProcessWatch.isRunning(drain.pid))
            // when
            try daemon.directory.write("go", "")
            // then
            #expect(try await drain.end() == 0)
            #expect(try daemon.directory.text("drain").hasSuffix("\nnothing runs\n"))
            expectContains(try await daemon.completion(of: 1), #""result":"succeeded""#)
        }
    }
}
