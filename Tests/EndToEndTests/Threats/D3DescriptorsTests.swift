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
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
            try #require(descriptor >= 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = UInt16(port).bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let number = descriptor
            _ = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }

        func close() { Glibc.close(descriptor) }
    }
}
