import JobProtocol
import TestSupport
import Testing

/// The name servers that a step with a network of its own gets.
@Suite struct ResolversTests {
    private func text(_ host: String) -> String { Resolvers(host: host, own: "10.0.2.3").text }

    @Test(
        .proves(.jobs, "A cloud's metadata address, such as 169.254.169.254, is out of reach of every sandboxed step"),
        .proves(
            .jobs,
            "A sandboxed step's network exists from its command's beginning through its grace, and ends with the step. A step that loses it is an internal error"
        ),
        arguments: [
            "127.0.0.53", "127.0.0.1", "::1", "0.0.0.0", "fe80::1%eth0", "FE80::1", "::ffff:127.0.0.1",
            "169.254.169.253",
            "fd00:ec2::253", "168.63.129.16",
        ])
    func testThatOneThatOnlyTheHostReachesIsAskedByWayOfTheHost(server: String) {
        #expect(
            text("nameserver \(server)\nsearch example.com\noptions edns0\n")
                == "nameserver 10.0.2.3\nsearch example.com\noptions edns0\n")
    }

    @Test(
        .proves(
            .jobs,
            "A sandboxed step's network exists from its command's beginning through its grace, and ends with the step. A step that loses it is an internal error"
        ), arguments: ["192.0.2.1", "2001:db8::1", "10.0.0.2", "fd00:1::1"])
    func testThatOthersStayAsTheyAre(server: String) {
        #expect(text("# ours\nnameserver\t\(server)\n") == "# ours\nnameserver \(server)\n")
    }

    @Test func testThatTheirOrderStays() {
        #expect(
            text("nameserver 127.0.0.1\nnameserver 192.0.2.1\nnameserver ::1\n")
                == "nameserver 10.0.2.3\nnameserver 192.0.2.1\n")
    }

    @Test(arguments: ["", "search example.com", "nameserver"])
    func testThatNoneMeansTheHost(host: String) {
        expectLast(text(host), "nameserver 10.0.2.3")
    }

    private func expectLast(_ text: String, _ line: String) {
        #expect(text.split(separator: "\n").last.map(String.init) == line)
        #expect(text.hasSuffix("\n"))
    }
}
