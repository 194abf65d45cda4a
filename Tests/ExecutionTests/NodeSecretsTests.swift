import Execution
import Glibc
import JobProtocol
import TestSupport
import Testing

/// The secrets of a job that no launcher starts, as on a node of a cluster.
@Suite struct NodeSecretsTests {
    @Test(
        .proves(
            .jobs, "Secrets of a job on a node come in an anonymous file, and only the step that asks for one has it"))
    func testThatASupervisorReadsSecretsFromADescriptor() async throws {
        try await withLaunched { launched in
            // given
            var job = launched.job("echo one ${#KEY} $KEY", "echo two ${#KEY}", secrets: ["KEY"])
            job.steps[1].secrets = []
            let attempt = try launched.prepare(job)
            let request = LaunchRequest(attempt: attempt.path, secrets: ["KEY": "s3cret-value"])
            try launched.directory.write("request", String(decoding: request.json(), as: UTF8.self))
            let script = """
                exec 7<'\(launched.directory.path("request"))'
                exec '\(launched.supervisor)' --attempt '\(attempt.path)' --secrets-from 7
                """
            // when
            _ = try await run(["/bin/sh", "-c", script], in: "/")
            // then
            let ended = try await launched.end(of: attempt)
            #expect(ended.result == .completed, "\(ended.events)")
            #expect(ended.log.contains("one 12") && ended.log.contains("two 0"), "\(ended.log)")
            #expect(!ended.log.contains("s3cret-value"))
        }
    }
}
