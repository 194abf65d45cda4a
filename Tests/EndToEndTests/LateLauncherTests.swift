import BotSupport
import CoreFoundation
import Foundation
import Glibc
import JobProtocol
import TestSupport
import Testing

/// A launcher that is stopped when a job is requested, and takes the job after the requesting daemon is gone.
@Suite(.program("curl")) struct LateLauncherTests {
    /// The next daemon must not prepare the workspace again under the job.
    @Test(.proves(.jobs, "A start that is given up is withdrawn; one that comes late is taken up, or never begins"))
    func testThatAJobThatItTakesLateIsPreparedOnce() async throws {
        try await withDaemon { daemon in
            // given: a stopped launcher, and a daemon that was killed while it waited for the launcher's answer
            try daemon.directory.write("go", "")
            try await WaitingProject.push(daemon)
            expectContains(try await daemon.completion(of: 1), #""result":"succeeded""#)
            let lock = try daemon.directory.text("state/launcher.socket.lock")
            let launcher = try #require(LockContent(lock)).pid
            kill(launcher, SIGSTOP)
            defer { kill(launcher, SIGCONT) }
            #expect(try await daemon.martlet("integrate", "kit").status == 0)
            // The service's own examination of the launcher is another connection.
            let job = daemon.state + "/integrations/kit/2/debug/1/job.json"
            await until("it is asked") { Self.connections(to: daemon) >= 1 && Self.inode(of: job) != nil }
            let before = try #require(Self.inode(of: job))
            _ = try await daemon.end(by: [SIGKILL])

            // when
            let earlier = Self.connections(to: daemon)
            try await daemon.start()
            await until("the next daemon asks") { Self.connections(to: daemon) > earlier }
            kill(launcher, SIGCONT)

            // then
            expectContains(try await daemon.completion(of: 2), #""result":"succeeded""#)
            #expect(Self.inode(of: job) == before)
            expectFile(daemon.directory.path("runs"), "run\nrun\n")
        }
    }

    private static func inode(of path: String) -> UInt64? {
        var status = stat()
        return stat(path, &status) == 0 ? UInt64(status.st_ino) : nil
    }

    /// Returns the connections that the launcher has not accepted: entries with the socket's name besides the listening one (proc_net_unix(5), in
    /// which the sixth field is 01).
    private static func connections(to daemon: Daemon) -> Int {
        // Foundation reads only the beginning of such a file, which says that it is empty.
        let bytes = SmallFile.read("/proc/net/unix", limit: 16 << 20) ?? []
        let table = String(decoding: bytes, as: UTF8.self)
        return table.split(separator: "\n").count { $0.hasSuffix(daemon.state + "/launcher.socket") } - 1
    }
}
