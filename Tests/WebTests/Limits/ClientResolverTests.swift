import Model
import NIOCore
import TestSupport
import Testing

@testable import Web

@Suite struct ClientResolverTests {
    @Test func testThatAProxysPortIsNoPartOfTheAddress() {
        #expect(IPAddress(forwarded: "192.0.2.7:4711") == IPAddress("192.0.2.7"))
        #expect(IPAddress(forwarded: "[2001:db8::1]:443") == IPAddress("2001:db8::1"))
        #expect(IPAddress(forwarded: "2001:db8::1") == IPAddress("2001:db8::1"))
        for text in ["", "unknown", "host.example:80", "[unknown]", "_hidden"] {
            #expect(IPAddress(forwarded: text) == nil, "\(text)")
        }
    }

    @Test(arguments: ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"])
    func testThatLoopbackIsNoClient(address: String) throws {
        let peer = try #require(IPAddress(address))
        let resolver = ClientResolver()
        // A proxy on this machine that the settings do not name. Its header could be the client's own.
        #expect(resolver.client(ofConnectionFrom: peer) == nil)
        #expect(resolver.client(ofRequestFrom: peer, forwarded: ["198.51.100.1"]) == nil)
    }

    @Test func testThatAPeerOfAUnixSocketIsNoClient() throws {
        let socket = try SocketAddress(unixDomainSocketPath: "/tmp/a")
        #expect(IPAddress(socket) == nil)
        #expect(ClientResolver().client(ofConnectionFrom: nil) == nil)
    }

    @Suite struct GivenATrustedProxy {
        private let resolver = ClientResolver(proxies: ["127.0.0.1", "10.0.0.2"])

        @Test(
            .proves(.web, "The log names the client of a failed request by the address that a trusted proxy names"),
            arguments: [
                ("127.0.0.1", ["198.51.100.7"], "198.51.100.7"), ("127.0.0.1", ["1.2.3.4, 2001:db8::9"], "2001:db8::9"),
                ("127.0.0.1", [], "127.0.0.1"), ("127.0.0.1", ["nonsense"], "127.0.0.1"),
                ("192.0.2.1", ["198.51.100.7"], "192.0.2.1"),
            ] as [(String, [String], String)])
        func testThatLogsNameTheWholeAddressOfTheClient(peer: String, forwarded: [String], address: String) {
            #expect(
                resolver.origin(ofRequestFrom: IPAddress(peer), forwarded: forwarded)?.description == address)
            #expect(resolver.origin(ofRequestFrom: nil, forwarded: forwarded) == nil)
        }
        private let proxy = IPAddress("127.0.0.1")

        @Test(
            .proves(
                .intake,
                "Limits for each client apply by address, also behind a proxy in `proxies`; loopback and the Unix socket have none"
            ))
        func testThatTheAddressThatTheProxyAppendedIsTheClient() {
            // The part before it is the client's own text.
            let client = resolver.client(ofRequestFrom: proxy, forwarded: ["203.0.113.9, 198.51.100.1"])
            #expect(client == IPAddress("198.51.100.1"))
            #expect(resolver.client(ofConnectionFrom: proxy) == nil, "a proxy's connections are many clients'")
        }

        @Test func testThatAChainOfProxiesIsPassed() {
            let client = resolver.client(ofRequestFrom: proxy, forwarded: ["203.0.113.9", "198.51.100.1, 10.0.0.2"])
            #expect(client == IPAddress("198.51.100.1"))
        }

        @Test func testThatAnotherPeersHeaderCountsForNothing() {
            let other = IPAddress("192.0.2.7")
            #expect(resolver.client(ofRequestFrom: other, forwarded: ["198.51.100.1"]) == other)
        }

        @Test(arguments: [[], ["unknown"], ["10.0.0.2"]]) func testThatWithoutAnAddressThereIsNoClient(header: [String])
        {
            #expect(resolver.client(ofRequestFrom: proxy, forwarded: header) == nil)
        }
    }
}
