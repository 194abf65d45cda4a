import TestSupport
import Testing

@Suite struct LoopbackSocketTests {
    /// Who connects, or listens without saying where, gets one of 32768 and above.
    @Test func testThatAFreePortIsNobodysButOfWhoAskedForIt() throws {
        // when
        let ports = try (0..<200).map { _ in try LoopbackSocket.freePort() }
        // then
        #expect(Set(ports).count == 200)
        #expect(ports.allSatisfy { (30_000..<32_768).contains($0) }, "\(ports)")
    }

    @Test func testThatAPortThatIsListenedAtIsNotFree() throws {
        // given: as often as there are ports
        let listener = try LoopbackSocket(port: try LoopbackSocket.freePort())
        defer { listener.stop() }
        // when
        let ports = try (0..<2000).map { _ in try LoopbackSocket.freePort() }
        // then
        #expect(!ports.contains(listener.port))
    }
}
