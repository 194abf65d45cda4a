import Basics
import Execution
import Glibc
import JobProtocol
import TestSupport
import Testing

@testable import martlet

/// What a node of a cluster runs for an attempt.
@Suite struct NodeJobTests {
    @Test(
        .proves(
            .jobs, "A job on a node that is asked to end while it checks out lives on, so that its end is recorded"))
    func testThatASignalDuringTheCheckoutEndsNoProcess() async throws {
        try await withTemporaryDirectory { directory in
            // given a node that waits for the workspace
            let attempt = AttemptDirectory(path: directory.path("attempt"))
            try attempt.make()
            try directory.makeDirectory("work/0")
            try directory.write(
                "attempt/checkout.json",
                """
                {"acceptsPointers":false,"clean":"never","commit":"\(String(repeating: "4f", count: 20))","hasSubmodules":false,\
                "isClean":false,"isSandboxed":false,"kept":[],"mark":"","mirrors":"\(directory.path("mirrors"))",\
                "ref":"refs/heads/main","reports":[],"repository":"/srv/kit.git","tree":"\(directory.path("work/0/tree"))",\
                "upstream":[]}
                """)
            let holder = try await StartedProgram.start(
                ["/bin/sh", "-c", "exec 9>>'\(directory.path("work/0/lock"))'; flock 9; : > held; exec sleep 1000"],
                in: directory.path("work"), environment: ["PATH": "/usr/bin:/bin"], output: directory.path("output"))
            await until("the workspace is taken") { access(directory.path("work/held"), F_OK) == 0 }
            let program = try await StartedProgram.start(
                [
                    try TestTools.builtProduct("martlet"), NodeJob.name, "--daemon-version", Martlet.version,
                    "--attempt",
                    attempt.path,
                ], environment: ["PATH": "/usr/bin:/bin"], output: directory.path("output"))
            await until("the node has begun it") { access(attempt.paths.heartbeat, F_OK) == 0 }
            // when
            program.signal(SIGTERM)
            holder.signal(SIGKILL)
            #expect(try await holder.end() == -SIGKILL)
            // then
            let status = try await program.end()
            #expect(status == Failure.Status.unavailable.rawValue, "\((try? directory.text("output")) ?? "")")
            #expect(try attempt.liveness() == .finished)
        }
    }
}
