import Foundation
import Glibc
import TestSupport
import Testing

/// Row D4: the daemon within 128 MiB. A job's own limit is tested with the sandbox.
@Suite(.threat("D4")) struct D4MemoryTests {
    @Test(.memoryGroup, .program("curl")) func testThatItLivesUnderLoad() async throws {
        try await MemoryGroup.with("daemon", bytes: 128 << 20) { group in
            try await withDaemon(isStarted: false) { daemon in try await load(daemon, in: group) }
        }
    }

    private func load(_ daemon: Daemon, in group: String) async throws {
        // given
        try daemon.directory.write("go", "")
        try await daemon.start(after: "echo $$ >\(group)/cgroup.procs")
        try await WaitingProject.push(daemon)
        expectContains(try await daemon.completion(of: 1), #""result":"succeeded""#)
        let pid = daemon.pid

        // when: 30 pushes of 500 updates, five at a time, and as many pages
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for worker in 0..<5 {
                tasks.addTask {
                    for number in 0..<6 {
                        let push = try await daemon.push(delivery: "load-\(worker)-\(number)", updates: 500)
                        let page = try await daemon.get("/deliveries").status
                        #expect(push == 202)
                        #expect(page == 200)
                    }
                }
            }
            try await tasks.waitForAll()
        }

        // then
        #expect(try await daemon.get("/health").status == 200)
        #expect(daemon.pid == pid)
        let events = try String(contentsOfFile: group + "/memory.oom_control", encoding: .utf8)
        expectContains(events, "oom_kill 0")
        #expect(try await daemon.martlet("integrate", "kit", "--wait").status == 0)
    }
}
