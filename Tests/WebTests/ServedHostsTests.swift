import TestSupport
import Testing

@testable import Web

/// The host names of the service. A page of another site whose name resolves to the service must not read it.
@Suite struct ServedHostsTests {
    private static func hosts(_ listen: [String] = ["127.0.0.1"], url: String = "https://ci.acme.example:8443")
        -> ServedHosts
    {
        ServedHosts(
            WebConfiguration(
                listen: listen.map { .init(host: $0, port: 8080) }, socket: nil, state: "/", url: url,
                hosts: ["ci.internal", "10.9.8.7", "fd00::1"], anonymousMayRead: true, version: "1"))
    }

    @Test(
        .proves(
            .web,
            "A request for another host name is 421, so no page of another site reads the service (DNS rebinding; A13)"),
        arguments: [
            "ci.acme.example", "CI.ACME.example:8443", "ci.acme.example.", "ci.acme.example:1", "ci.internal",
            "10.9.8.7:80",
            "[fd00::1]", "[FD00:0::1]:8080", "localhost", "LOCALHOST:8080", "127.0.0.1:8080", "127.1.2.3", "[::1]",
            "[::1]:8080",
            "[::ffff:127.0.0.1]", "127.0.0.1:",
        ])
    func testThatItsOwnNamesAndLoopbackAreServed(_ host: String) {
        #expect(Self.hosts().refusal(of: host) == nil)
    }

    @Test(
        .proves(
            .web,
            "A request for another host name is 421, so no page of another site reads the service (DNS rebinding; A13)"),
        arguments: [
            "attacker.example", "attacker.example:8080", "ci.acme.example.attacker.example", "xci.acme.example",
            "10.0.0.1",
            "[2001:db8::1]", "127.0.0.1.attacker.example", "localhost.attacker.example", "127.1", "2130706433",
            "0.0.0.0",
            "0x7f000001", "ci_acme.example",
        ])
    func testThatOthersAreMisdirected(_ host: String) {
        let refusal = Self.hosts().refusal(of: host)
        #expect(refusal?.status == 421)
        expectContains(refusal?.detail ?? "", "add the name to `url` or `hosts`")
    }

    @Test(arguments: [
        "", ".", ":8080", "a b", "a@ci.acme.example", "ci.acme.example/x", "ci.acme.example:80:80", "ci.acme.example:x",
        "[::1", "[::1]x", "[a]", "::1", "ci.acme.example:123456", "ci.äcme.example", String(repeating: "a", count: 400),
    ])
    func testThatWhatIsNoHostIsMalformed(_ host: String) {
        #expect(Self.hosts().refusal(of: host)?.status == 400)
    }

    @Test func testThatTheAddressesItListensOnAreServed() {
        #expect(Self.hosts(["192.168.1.5", "2001:db8::5"]).serves("192.168.1.5:8080"))
        #expect(Self.hosts(["192.168.1.5", "2001:db8::5"]).serves("[2001:db8:0::5]:8080"))
        #expect(!Self.hosts(["192.168.1.5"]).serves("192.168.1.6"))
        #expect(Self.hosts(["2001:db8:0:0:0:0:0:5"]).serves("[2001:db8::5]"))
        #expect(Self.hosts(["ci.lan"]).serves("CI.lan:8080"))
    }

    /// The addresses that lead to it are not known here, because a proxy's or a container's network changes them. No page has an address as its
    /// name.
    @Test(arguments: ["0.0.0.0", "::"])
    func testThatEveryAddressIsServedByWhoListensOnAll(_ listen: String) {
        #expect(Self.hosts([listen]).serves("203.0.113.9:8080"))
        #expect(Self.hosts([listen]).serves("[2001:db8::9]"))
        #expect(!Self.hosts([listen]).serves("attacker.example"))
    }

    @Test func testThatARequestOfHTTP10NeedsNoHost() { #expect(Self.hosts().refusal(of: nil) == nil) }

    @Test(
        arguments: [
            ("https://ci.acme.example:8443", "ci.acme.example", true), ("https://CI.acme.example:8443", nil, true),
            ("http://127.0.0.1:8080", "127.0.0.1:8080", true), ("http://localhost:3000", "localhost:8080", false),
            ("http://ci.acme.example:8443", "ci.acme.example", false),
            ("https://attacker.example", "ci.acme.example", false),
            ("null", "ci.acme.example", false), ("", "", false), ("https://ci.acme.example", "ci.acme.example", true),
        ] as [(String, String?, Bool)])
    func testThatAPageOfTheServiceIsKnownByItsOrigin(_ origin: String, _ authority: String?, _ isOwn: Bool) {
        #expect(Self.hosts().isOwn(origin: origin, authority: authority) == isOwn)
    }

    // MARK: The service

    private static func exchange(_ web: WebFixture, _ path: String, _ host: String?) async throws -> String {
        let line = host.map { "Host: \($0)\r\n" } ?? ""
        return try await RawAnswer.exchange(
            "GET \(path) HTTP/1.1\r\n\(line)Accept: text/html\r\nConnection: close\r\n\r\n", port: web.port)
    }

    @Test(
        .proves(
            .web,
            "A request for another host name is 421, so no page of another site reads the service (DNS rebinding; A13)")
    )
    func testThatAForeignNameReadsNothing() async throws {
        try await withWeb(fileCache: FileCache()) { web in
            // given: also a file in the memory cache
            let sample = SampleContent(web: web)
            try await sample.fill()
            let file = "/files/kit/1.0.0/kit-source.tar.gz"
            try await web.expect(200, "GET", file)
            #expect(web.site.fileCache.bytes > 0)
            for path in [
                "/", "/health", "/metrics", "/api/v1/bots/kit/integrations", file, "/static/style.css", "/none",
            ] {
                // when
                let answer = try await Self.exchange(web, path, "attacker.example")
                // then
                #expect(answer.hasPrefix("HTTP/1.1 421 "), "\(path): \(answer)")
                expectContains(answer, "application/problem+json")
                expectContains(answer.lowercased(), "cache-control: no-store")
                #expect(!answer.contains("kit"))
            }
            for host in ["", "a, b", "a b"] {
                #expect(try await Self.exchange(web, "/health", host).hasPrefix("HTTP/1.1 400 "), "\(host)")
            }
            #expect(try await Self.exchange(web, "/health", "localhost:\(web.port)").hasPrefix("HTTP/1.1 200 "))
            #expect(try await Self.exchange(web, "/health", nil).hasPrefix("HTTP/1.1 400 "))
            let old = try await RawAnswer.exchange("GET /health HTTP/1.0\r\n\r\n", port: web.port)
            #expect(old.contains(" 200 "), "\(old)")
        }
    }

    @Test func testThatTheUnixSocketIsAskedByAnyName() async throws {
        try await withWeb { web in
            let answer = try await martlet(["bots"], web)
            #expect(answer.status == 0, "\(answer.stderr)")
        }
    }
}
