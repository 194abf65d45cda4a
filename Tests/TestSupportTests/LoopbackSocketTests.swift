import TestSupport
import Testing

@Suite struct LoopbackSocketTests {
    /// A socket that connects, or listens without a port, gets a port from 32768 on.
    @Test func testThatAFreePortIsNobodysButOfWhoAskedForIt() throws {
        // when
        let ports = try (0..<200).map { _ in try LoopbackSocket.freePort() }
        // then
        #expect(Set(ports).count == 200)
        #expect(ports.allSatisfy { (30_000..<32_768).contains($0) }, "\(ports)")
    }

    @Test func testThatAPortThatIsListenedAtIsNotFree() throws {
        // given: as many reservations as there are ports
        let listener = try LoopbackSocket(port: try LoopbackSocket.freePort())
        defer { listener.stop() }
        // when
        let ports = try (0..<2000).map { _ in try LoopbackSocket.freePort() }
        // then
        #expect(!ports.contains(listener.port))
    }
}
