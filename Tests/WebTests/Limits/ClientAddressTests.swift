import NIOCore
import TestSupport
import Testing

@testable import Web

@Suite struct ClientAddressTests {
    @Test func testThatAnAddressIsReadInEveryForm() throws {
        let plain = try #require(ClientAddress("192.0.2.7"))
        #expect(ClientAddress("192.0.2.7:4711") == plain)
        #expect(ClientAddress("::ffff:192.0.2.7") == plain)
        #expect(ClientAddress("[2001:db8::1]:443") == ClientAddress("2001:db8:0:0::1"))
        for text in ["", "unknown", "192.0.2", "host.example", "2001:db8::1::2", "_hidden"] {
            #expect(ClientAddress(text) == nil, "\(text)")
        }
    }

    /// RFC 6177: a site with one IPv6 address has all addresses with the same first 64 bits.
    @Test func testThatANetworkOfVersion6IsOneClient() throws {
        let (one, two) = (
            try #require(ClientAddress("2001:db8:1:2::3")), try #require(ClientAddress("2001:db8:1:2:f::"))
        )
        #expect(one.network == two.network)
        #expect(one.network != ClientAddress("2001:db8:1:3::3")?.network)
        #expect(ClientAddress("192.0.2.7")?.network != ClientAddress("192.0.2.8")?.network)
    }

    @Test(arguments: ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"])
    func testThatLoopbackIsNoClient(address: String) throws {
        let peer = try #require(ClientAddress(address))
        let resolver = ClientResolver()
        // A proxy on this machine that the settings do not name. Its header could be the client's own.
        #expect(resolver.client(ofConnectionFrom: peer) == nil)
        #expect(resolver.client(ofRequestFrom: peer, forwarded: ["198.51.100.1"]) == nil)
    }

    @Test func testThatAPeerOfAUnixSocketIsNoClient() throws {
        let socket = try SocketAddress(unixDomainSocketPath: "/tmp/a")
        #expect(ClientAddress(socket) == nil)
        #expect(ClientResolver().client(ofConnectionFrom: nil) == nil)
    }

    @Suite struct GivenATrustedProxy {
        private let resolver = ClientResolver(proxies: ["127.0.0.1", "10.0.0.2"])
        private let proxy = ClientAddress("127.0.0.1")

        @Test func testThatTheAddressThatTheProxyAppendedIsTheClient() {
            // The part before it is the client's own text.
            let client = resolver.client(ofRequestFrom: proxy, forwarded: ["203.0.113.9, 198.51.100.1"])
            #expect(client == ClientAddress("198.51.100.1"))
            #expect(resolver.client(ofConnectionFrom: proxy) == nil, "a proxy's connections are many clients'")
        }

        @Test func testThatAChainOfProxiesIsPassed() {
            let client = resolver.client(ofRequestFrom: proxy, forwarded: ["203.0.113.9", "198.51.100.1, 10.0.0.2"])
            #expect(client == ClientAddress("198.51.100.1"))
        }

        @Test func testThatAnotherPeersHeaderCountsForNothing() {
            let other = ClientAddress("192.0.2.7")
            #expect(resolver.client(ofRequestFrom: other, forwarded: ["198.51.100.1"]) == other)
        }

        @Test(arguments: [[], ["unknown"], ["10.0.0.2"]]) func testThatWithoutAnAddressThereIsNoClient(header: [String])
        {
            #expect(resolver.client(ofRequestFrom: proxy, forwarded: header) == nil)
        }
    }
}
