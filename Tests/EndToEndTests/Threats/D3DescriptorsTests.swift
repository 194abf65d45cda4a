import Foundation
import Glibc
import TestSupport
import Testing

/// Row D3: 64 descriptors and 200 clients.
@Suite struct D3DescriptorsTests {
    @Test(.program("curl")) func testThatTheDaemonServesAgainWhenTheClientsHaveGone() async throws {
        try await withDaemon(isStarted: false) { daemon in
            // given: a launcher with limits of its own, as it has under systemd
            try daemon.directory.write("go", "")
            try await daemon.start()
            try await WaitingProject.push(daemon)
            expectContains(try await daemon.completion(of: 1), #""result":"succeeded""#)
            await daemon.stop()
            try await daemon.start(after: "ulimit -n 64")
            let limits = try String(contentsOfFile: "/proc/\(try #require(daemon.pid))/limits", encoding: .utf8)
            expectContains(limits, "Max open files            64")

            // when
            let clients = try (0..<200).map { _ in try Client(port: daemon.port) }
            #expect(try await daemon.martlet("integrate", "kit", "--wait").status == 0, "its socket has its own share")

            // then
            for client in clients { client.close() }
            try await until("it answers") { try await daemon.get("/health").status == 200 }
            #expect(try await daemon.martlet("integrate", "kit", "--wait").status == 0)
        }
    }

    /// A connection that asks for nothing. Those that the daemon does not take wait in the kernel's queue.
    private struct Client {
        let descriptor: Int32

        init(port: Int) throws {
            descriptor = try #require(LoopbackSocket.connected(to: port, isWaiting: false))
        }

        func close() { Glibc.close(descriptor) }
    }
}
