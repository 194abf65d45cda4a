import Foundation
import JobProtocol
import TestSupport
import Testing

/// B9: every way out of a sandbox that `probes.c` has, tried in a sandboxed job as each available user. Each prints its name and `denied`, with the
/// kernel's error.
@Suite(
    .proves(
        .jobs,
        "The system call filter; 120 and more ways out, each denied to an ordinary user, to a workspace's owner and to root"
    ), .program("bwrap"), .program("cc"))
struct EscapeTests {
    /// The least number of probes. One that does not compile on this architecture is left out.
    private static let fewest = 120

    @Test(
        .proves(.jobs, "A job's leases delay nobody; it gets no large pipes and locks no shared memory"),
        .proves(
            .jobs,
            "A job can trace its own processes and list network interfaces: the leak checker, debuggers and `getifaddrs` work"
        ), arguments: JobUser.possible)
    func testThatEveryWayOutIsDenied(user: JobUser) async throws {
        try await withLaunched(as: user) { launched in
            // given
            try await Self.compile(to: launched.workspace)
            try launched.directory.write("workspace/.git/HEAD", "ref: refs/heads/main\n")
            // when
            let end = try await launched.run(launched.sandboxed("./probes"))
            // then
            let lines = end.log.split(separator: "\n")
            for line in lines {
                print("B9.\(line), \(user.testDescription)")
                #expect(line.split(separator: " ").dropFirst().first == "denied", "\(line)")
            }
            #expect(lines.count >= Self.fewest)
            #expect(end.step(0) == "exit 0")
            #expect(try launched.directory.text("workspace/.git/HEAD") == "ref: refs/heads/main\n")
        }
    }

    /// Shows that the probes can fail: without a sandbox many succeed. They never run as root, where they would do harm.
    @Test(.enabled(if: JobUser.possible.contains(.ordinary), "only root can be another user"))
    func testThatWithoutASandboxTheyAreOpen() async throws {
        try await withLaunched(as: .ordinary) { launched in
            try await Self.compile(to: launched.workspace)
            var job = launched.sandboxed("./probes")
            (job.isolation, job.sandbox, job.mountedAt) = (.none, nil, job.workspace)
            let end = try await launched.run(job)
            #expect(end.log.split(separator: "\n").count { $0.contains(" OPEN") } >= 15)
            expectContains(end.log, "own_set_user_program OPEN")
        }
    }

    private static func compile(to directory: String) async throws {
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/probes.c"
        try await runExpectingSuccess(["cc", "-O1", "-o", directory + "/probes", source])
        guard geteuid() == 0 else { return }
        try await runExpectingSuccess(["install", "-o", "root", "-m", "4755", "/usr/bin/id", directory + "/root-id"])
    }
}
