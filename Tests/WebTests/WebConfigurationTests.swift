import TestSupport
import Testing

@testable import Web

@Suite struct WebConfigurationTests {
    private func configuration(_ hosts: String...) -> WebConfiguration {
        WebConfiguration(
            listen: hosts.map { .init(host: $0, port: 8080) }, socket: nil, state: "/", url: "", anonymousMayRead: true,
            version: "1")
    }

    @Test(arguments: ["127.0.0.1", "127.9.0.1", "::1", "localhost"])
    func testThatLoopbackNeedsNoToken(host: String) {
        #expect(configuration(host).refusalToListen(hasTokens: false) == nil)
    }

    @Test(
        .proves(.web, "Listening beyond loopback needs a token"),
        arguments: ["0.0.0.0", "::", "192.168.1.4", "ci.example", "127.0.0.1.example", "127.1", ""])
    func testThatListeningBeyondItNeedsOne(host: String) throws {
        let refusal = try #require(configuration("127.0.0.1", host).refusalToListen(hasTokens: false))
        #expect(refusal.contains("martlet token create NAME --role admin"))
        #expect(configuration("127.0.0.1", host).refusalToListen(hasTokens: true) == nil)
    }
}
