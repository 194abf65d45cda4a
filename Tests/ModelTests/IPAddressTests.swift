import Model
import TestSupport
import Testing

@Suite struct IPAddressTests {
    @Test func testThatAnAddressIsReadInEveryForm() throws {
        #expect(IPAddress("192.0.2.7")?.bytes == [192, 0, 2, 7])
        #expect(IPAddress("::ffff:192.0.2.7") == IPAddress("192.0.2.7"))
        #expect(IPAddress("2001:db8:0:0::1")?.bytes == [0x20, 1, 0xd, 0xb8] + [UInt8](repeating: 0, count: 11) + [1])
        for text in [
            "", "unknown", "192.0.2", "192.0.2.7:80", "[::1]", "host.example", "2001:db8::1::2", "fe80::1%eth0",
        ] {
            #expect(IPAddress(text) == nil, "\(text)")
        }
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("127.1.2.3", true), ("::1", true), ("::ffff:127.0.0.1", true), ("128.0.0.1", false),
        ("::2", false),
    ])
    func testThatLoopbackIsKnown(_ text: String, _ isLoopback: Bool) throws {
        #expect(try #require(IPAddress(text)).isLoopback == isLoopback)
    }

    /// RFC 6177: a site with one IPv6 address has all addresses with the same first 64 bits.
    @Test(.proves(.web, "After 200 unknown tokens an address gets 429; known tokens always work (A7)"))
    func testThatANetworkOfVersion6IsOne() throws {
        let one = try #require(IPAddress("2001:db8:1:2::3"))
        let two = try #require(IPAddress("2001:db8:1:2:f::"))
        #expect(one.network == two.network)
        #expect(one.network != IPAddress("2001:db8:1:3::3")?.network)
        #expect(IPAddress("192.0.2.7")?.network != IPAddress("192.0.2.8")?.network)
    }
}
