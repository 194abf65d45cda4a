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
        #expect(rules.rights(names: [], mail: nil).highest == .viewer)
        #expect(rules.rights(names: ["ci"], mail: nil).highest == .operator)
        #expect(rules.rights(names: ["CI"], mail: nil).highest == .viewer)
        #expect(rules.rights(names: [], mail: "bob@Acme.Example").highest == .operator)
        #expect(rules.rights(names: [], mail: "bob@sub.acme.example").highest == .viewer)
        #expect(rules.rights(names: [], mail: "a@acme.example@evil.example").highest == .viewer)
        #expect(rules.rights(names: [], mail: "Ann@acme.example").highest == .admin)
        // A group is no address.
        #expect(rules.rights(names: ["ann@acme.example", "@acme.example"], mail: nil).highest == .viewer)
        #expect(RoleRules([:]).rights(names: ["ci"], mail: nil).isEmpty)
    }

    @Test(
        .proves(
            .settings,
            "`sign-in` of the settings names an OpenID Connect provider or a proxy's header, and who gets which role"),
        .proves(.web, "A person who matches several rules has each role on the bots of its rule"))
    func testThatARuleIsLimitedToBots() throws {
        // given
        let reading = read(
            """
            sign-in:
              header: X-Remote-User
              from: 127.0.0.1
              roles:
                admin: { who: ci-admins }
                operator:
                  - ann
                  - { who: [tools-team, bob], bots: ["tools-*", lint] }
                viewer: { who: "*", bots: kit }
            """)
        // when
        let rules = try #require(reading.value?.signIn.header?.roles, "\(reading.diagnostics)")
        // then
        let tools = try #require(BotScope(["tools-*", "lint"]))
        expectNoDifference(
            rules,
            RoleRules([
                .init(.viewer, ["*"], on: BotScope(["kit"])), .init(.operator, ["ann"]),
                .init(.operator, ["tools-team", "bob"], on: tools), .init(.admin, ["ci-admins"]),
            ]))
        #expect(rules.rights(names: ["tools-team"], mail: nil).words == "viewer on kit; operator on tools-*, lint")
        #expect(rules.rights(names: ["ann", "bob"], mail: nil).words == "operator")
        #expect(rules.rights(names: ["eve"], mail: nil).role == nil)
    }

    @Test(.proves(.badInput, "A list of bots that is empty, too long or not of names is refused with a sentence"))
    func testThatABadRuleIsSaid() {
        for (rule, sentence) in [
            ("{ who: a, bots: [] }", "`bots` is no list of bots: it is empty"),
            ("{ who: a, bots: [Kit] }", "`bots` is no list of bots: a bot's name has"),
            ("{ who: a, bots: [\"\(String(repeating: "a", count: 65))\"] }", "is longer than 64 characters"),
            ("{ who: a, bots: { kit: 1 } }", "`bots` is a list"), ("{ bots: [kit] }", "needs `who`"),
            ("{ who: [], bots: [kit] }", "needs `who`"), ("{ who: a, bot: kit }", "did you mean `bots`?"),
            ("[[a]]", "`viewer`"),
            ("{ who: [\((1...65).map { "g\($0)" }.joined(separator: ", "))], bots: kit }", "at most 64 entries"),
        ] {
            let reading = read("sign-in: { header: X-User, from: 127.0.0.1, roles: { viewer: \(rule) } }\n")
            #expect(reading.value == nil, "\(rule)")
            expectContains("\(reading.diagnostics)", sentence)
        }
    }
}
