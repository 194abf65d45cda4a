import Glibc
import TestSupport
import Testing

@testable import Web

@Suite struct WebServerTests {
    @Suite struct GivenAPortInUse {
        @Test(.timeLimit(TestLimits.minutes(1))) func testThatItEndsWithTheReason() async throws {
            try await withWeb { web in
                // given
                let socket = web.directory.path("second.socket")
                let second = WebServer(
                    configuration: .init(
                        listen: [.init(host: "127.0.0.1", port: web.port)], socket: socket, state: web.state,
                        url: "http://ci.example", anonymousMayRead: true, version: "1.2.3"),
                    store: web.store,
                    operations: try await makeOperations(
                        store: web.store, directory: web.directory, state: web.state, log: web.log),
                    clock: { WebFixture.now }, logger: web.log.logger)

                // when
                let error = await #expect(throws: AddressInUse.self) { try await second.run() }

                // then
                #expect(error?.address == "127.0.0.1:\(web.port)")
                #expect(access(socket, F_OK) != 0, "its socket is left at \(socket)")
            }
        }
    }
}
