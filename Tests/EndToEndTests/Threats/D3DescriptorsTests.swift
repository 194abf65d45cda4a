import Foundation
import Glibc
import TestSupport
import Testing

/// Row D3: 64 descriptors and 200 clients.
@Suite(.threat("D3")) struct D3DescriptorsTests {
    /// Only root may count the descriptors of a daemon that hides itself.
    @Test(
        .proves(
            .jobs,
            "On a full or read-only disk, without inodes, and with too few descriptors, a push gets 503 and is accepted later (D1–D3)"
        ), .program("curl"), .enabled(if: getuid() == 0, "only root sees them"))
    func testThatTheDaemonServesAgainWhenTheClientsHaveGone() async throws {
        try await withDaemon(isStarted: false) { daemon in
            // given: a launcher with limits of its own, as under systemd
            try daemon.directory.write("go", "")
            try await daemon.start()
            try await WaitingProject.push(daemon)
            expectContains(try await daemon.completion(of: 1), #""result":"succeeded""#)
            try await daemon.stop()
            try await daemon.start(after: "ulimit -n 64")
            let limits = try String(contentsOfFile: "/proc/\(try #require(daemon.pid))/limits", encoding: .utf8)
            expectContains(limits, "Max open files            64")

            // when
            let clients = try (0..<200).map { _ in try Client(port: daemon.port) }
            let pid = try #require(daemon.pid)
            let isDone = Locked(false)
            async let most = Self.mostDescriptors(of: pid, until: isDone)
            #expect(try await daemon.martlet("integrate", "kit", "--wait").status == 0, "its socket has its own share")
            isDone.withLock { $0 = true }

            // then: it accepted only so few clients that some descriptors are left
            let held = await most
            #expect(held > 0 && held < 64)
            for client in clients { client.close() }
            try await until("it answers") { try await daemon.get("/health").status == 200 }
            #expect(try await daemon.martlet("integrate", "kit", "--wait").status == 0)
        }
    }

    private static func mostDescriptors(of pid: Int32, until isDone: Locked<Bool>) async -> Int {
        var most = 0
        await until("the integration's end") {
            most = max(most, (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count) ?? 0)
            return isDone.value
        }
        return most
    }

    /// A connection without a request. Connections that the daemon does not accept wait in the kernel's queue.
    private struct Client {
        let descriptor: Int32

        init(port: Int) throws {
            descriptor = try #require(LoopbackSocket.connected(to: port, isWaiting: false))
        }

        func close() { Glibc.close(descriptor) }
    }
}
