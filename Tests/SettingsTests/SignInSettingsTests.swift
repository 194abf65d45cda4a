import Model
import Settings
import TestSupport
import Testing

@Suite struct SignInSettingsTests {
    private func read(_ yaml: String) -> Reading<ServiceSettings> {
        SettingsReader.read(yaml: yaml, file: "martlet.yml", defaults: .system(processors: 8))
    }

    @Test(
        .proves(
            .settings,
            "`sign-in` of the settings names an OpenID Connect provider or a proxy's header, and who gets which role"))
    func testThatItReadsEveryKey() throws {
        let reading = read(
            """
            sign-in:
              openid:
                issuer: https://id.acme.example/realms/acme
                client-id: martlet
                secret: openid
                roles: { admin: ci-admins, operator: [ci, ann@acme.example], viewer: ["@acme.example"] }
              header: X-Remote-User
              from: [127.0.0.1, "::1"]
              roles: { viewer: "*" }
            """)
        expectNoDifference(
            try #require(reading.value, "\(reading.diagnostics)").signIn,
            SignInSettings(
                openID: OpenIDSettings(
                    issuer: "https://id.acme.example/realms/acme", clientID: "martlet", secret: "openid",
                    roles: RoleRules([
                        .admin: ["ci-admins"], .operator: ["ci", "ann@acme.example"], .viewer: ["@acme.example"],
                    ])),
                header: HeaderSettings(
                    name: "X-Remote-User", from: ["127.0.0.1", "::1"], roles: RoleRules([.viewer: ["*"]]))))
        #expect(try #require(read("").value).signIn == SignInSettings())
    }

    @Test func testThatAProxysPeopleAreViewersUnlessRolesAreStated() throws {
        let reading = read("sign-in: { header: X-Remote-User, from: [127.0.0.1] }\n")
        expectNoDifference(
            try #require(reading.value, "\(reading.diagnostics)").signIn.header,
            HeaderSettings(name: "X-Remote-User", from: ["127.0.0.1"], roles: RoleRules([.viewer: ["*"]])))
    }

    @Test func testThatALoopbackProviderNeedsNoTLS() throws {
        for issuer in ["http://127.0.0.1:9400", "http://localhost:9400", "http://[::1]:9400"] {
            let reading = read("sign-in: { openid: { issuer: '\(issuer)', client-id: a, roles: { viewer: '*' } } }\n")
            #expect(reading.value?.signIn.openID?.issuer == issuer, "\(reading.diagnostics)")
        }
    }

    @Test(arguments: [
        "http://id.acme.example", "id.acme.example", "https://", "https://u:p@id.acme.example", "https://a?b",
        "https://a b",
        "ftp://id.acme.example", "http://127.0.0.1.evil.example", "http://[::1].evil.example",
    ]) func testThatAnotherIssuerIsRefused(_ issuer: String) {
        let reading = read("sign-in: { openid: { issuer: '\(issuer)', client-id: a, roles: { viewer: '*' } } }\n")
        #expect(reading.value == nil)
        expectContains("\(reading.diagnostics)", "`issuer` is the provider's https address")
    }

    @Test func testThatWhatIsWrongIsSaid() {
        let header = "header: X-Remote-User, from: 127.0.0.1, roles: { viewer: '*' }"
        for (text, sentence) in [
            ("openid: { client-id: a, roles: { viewer: '*' } }", "`openid` needs `issuer`"),
            ("openid: { issuer: 'https://a', roles: { viewer: '*' } }", "`openid` needs `client-id`"),
            ("openid: { issuer: 'https://a', client-id: a }", "`openid` needs `roles`, or nobody could do anything"),
            ("openid: { issuer: 'https://a', client-id: a, roles: {} }", "`roles` gives nobody a role"),
            ("openid: { issuer: 'https://a', client-id: a, roles: { viewers: '*' } }", "did you mean `viewer`?"),
            ("header: X-Remote-User, roles: { viewer: '*' }", "`header` needs `from`"),
            ("header: X-Remote-User, from: 127.0.0.1, roles: {}", "`roles` gives nobody a role"),
            ("from: 127.0.0.1", "`from` belongs to `header`, which is missing"),
            (header.replacing("127.0.0.1", with: "proxy.example"), "`from` are the IP addresses"),
            (header.replacing("127.0.0.1", with: "10.0.0.0/8"), "`from` are the IP addresses"),
            (header.replacing("X-Remote-User", with: "Authorization"), "`header` is a header of the proxy's own"),
            (header.replacing("X-Remote-User", with: "x-forwarded-for"), "`header` is a header of the proxy's own"),
            (header.replacing("X-Remote-User", with: "a b"), "`header` is a header of the proxy's own"),
            (
                header.replacing(
                    "127.0.0.1", with: "[" + (1...17).map { "10.0.0.\($0)" }.joined(separator: ", ") + "]"), "1 to 16"
            ),
        ] {
            let reading = read("sign-in: { \(text) }\n")
            #expect(reading.value == nil, "\(text)")
            expectContains("\(reading.diagnostics)", sentence)
        }
    }

    @Test(.proves(.web, "Groups and verified mail domains of an OpenID Connect provider give roles"))
    func testThatTheHighestRoleCounts() {
        let rules = RoleRules([.viewer: ["*"], .operator: ["@acme.example", "ci"], .admin: ["ann@acme.example"]])
        #expect(rules.role(names: [], mail: nil) == .viewer)
        #expect(rules.role(names: ["ci"], mail: nil) == .operator)
        #expect(rules.role(names: ["CI"], mail: nil) == .viewer)
        #expect(rules.role(names: [], mail: "bob@Acme.Example") == .operator)
        #expect(rules.role(names: [], mail: "bob@sub.acme.example") == .viewer)
        #expect(rules.role(names: [], mail: "a@acme.example@evil.example") == .viewer)
        #expect(rules.role(names: [], mail: "Ann@acme.example") == .admin)
        // A group is no address.
        #expect(rules.role(names: ["ann@acme.example", "@acme.example"], mail: nil) == .viewer)
        #expect(RoleRules([:]).role(names: ["ci"], mail: nil) == nil)
    }
}
