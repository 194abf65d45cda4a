import Basics
import Execution
import Glibc
import JobProtocol
import TestSupport
import Testing

/// The resources of a supervisor, and the handling of a disk's errors.
@Suite(
    .proves(.jobs, "A supervisor's steps leave it no descriptor; a log that cannot be brought to the disk is our fault")
)
struct SupervisorResourceTests {
    /// In a sandbox each step has some ten anonymous files, pipes and a gate. Only root may count another process's descriptors.
    @Test(.enabled(if: getuid() == 0, "only root sees them"), arguments: Launched.sandboxes)
    func testThatStepsLeaveItNoDescriptors(isSandboxed: Bool) async throws {
        try await withLaunched { launched in
            // given
            var job = isSandboxed ? launched.sandboxed("") : launched.job("")
            let step = try #require(job.steps.first)
            func waiting(_ name: String) -> String {
                "touch ready\(name); while ! test -e go\(name); do sleep 0.02; done"
            }
            job.steps = [waiting("1"), "true", "true", "no-such-command || true", "true", waiting("2")].map { script in
                var step = step
                step.arguments = ["sh", "-c", script]
                return step
            }
            let attempt = try launched.prepare(job)
            try await launched.executor.start(attempt, secrets: [:])
            await launched.waitFor("ready1")
            let supervisor = try #require(launched.lockOwner(attempt.paths.lock)).pid
            // Walking the workspace holds some descriptors for a moment.
            let first = try (0..<10).map { _ in try Self.descriptors(of: supervisor).count }.min() ?? 0
            // when
            try launched.directory.write("workspace/go1", "")
            await launched.waitFor("ready2")
            // then: fewer than one for each of five steps; the first may not have had all of its own yet
            try await until("no more than before five steps") {
                try Self.descriptors(of: supervisor).count < first + 5
            }
            #expect(first > 0)
            try launched.directory.write("workspace/go2", "")
            #expect(try await launched.end(of: attempt).result == .completed)
        }
    }

    /// Returns the kind of each descriptor, without the numbers of pipes.
    private static func descriptors(of process: Int32) throws -> [String] {
        try Directory(opening: "/proc/\(process)/fd").entries().map { entry in
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = readlink("/proc/\(process)/fd/\(entry.name)", &buffer, buffer.count)
            return String(decoding: buffer.prefix(max(0, count)).prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)
        }.sorted()
    }

    /// A pipe accepts what is written to it, and cannot be synchronized to a disk.
    @Test func testThatALogThatCannotBeBroughtToTheDiskIsOurFault() async throws {
        try await withLaunched { launched in
            // given
            let attempt = try launched.prepare(launched.job("echo printed"))
            try #require(mkfifo(attempt.paths.log, 0o600) == 0)
            let reader = open(attempt.paths.log, O_RDWR | O_CLOEXEC)
            defer { close(reader) }
            // when
            try await launched.executor.start(attempt, secrets: [:])
            var events: [StatusEvent] = []
            for try await event in AttemptFollower(executor: launched.executor).events(of: attempt) {
                events.append(event)
            }
            // then
            guard case .finished(_, let result, let reason, _, _)? = events.last else {
                Issue.record("\(events)")
                return
            }
            #expect(result == .faulty)
            expectContains(reason ?? "", "writing the log failed: Invalid argument")
        }
    }
}
