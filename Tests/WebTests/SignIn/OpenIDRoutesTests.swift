import Model
import Settings
import SignIn
import Storage
import TestSupport
import Testing

@testable import Web

/// Signing in with OpenID Connect, from the button to the session.
@Suite struct OpenIDRoutesTests {
    private static let person: [String: FakeProvider.Value] = [
        "email": "ann@acme.example", "email_verified": true, "groups": .texts(["ci"]),
    ]
    private static let roles = RoleRules([.operator: ["ci"], .viewer: ["@acme.example"]])

    private func withProvider(
        _ fake: FakeProvider? = nil, roles: RoleRules = OpenIDRoutesTests.roles, url: String = "http://ci.example",
        _ body: @escaping @Sendable (WebFixture, FakeProvider) async throws -> Void
    ) async throws {
        let seconds = WebFixture.now.millisecondsSinceEpoch / 1000
        let fake = fake ?? FakeProvider(now: seconds, person: Self.person)
        let settings = OpenIDSettings(issuer: fake.issuer, clientID: fake.client, secret: "openid", roles: roles)
        let provider = OpenIDProvider(
            settings: settings, transport: fake, now: { WebFixture.now }, secret: { fake.secret })
        try await withWeb(
            anonymousMayRead: false, url: url, signIn: SignInSettings(openID: settings), openID: provider
        ) { web in try await body(web, fake) }
    }

    /// Returns the address of the answer with which the provider sends the browser back.
    private func begin(_ browser: WebBrowser, _ fake: FakeProvider, next: String = "/deliveries") async throws -> String
    {
        let answer = try await browser.get("/sign-in/openid?next=\(next)")
        #expect(answer.status == 302, "\(answer.text)")
        #expect(answer["Cache-Control"] == "no-store")
        let address = try #require(answer["Location"])
        return "/sign-in/openid/callback?" + (try #require(fake.authorize(address), "\(address)"))
    }

    @Test(.proves(.web, "People sign in with OpenID Connect: discovery, PKCE, state, nonce, and a verified ID token"))
    func testThatAPersonSignsInAndReturns() async throws {
        try await withProvider { web, fake in
            // given
            let browser = WebBrowser(web)
            expectContains(try await browser.get("/sign-in?next=/deliveries").text, "Sign in with id.acme.example")
            // when
            let answer = try await browser.get(try await begin(browser, fake))
            // then
            #expect(answer.status == 303, "\(answer.text)")
            #expect(answer["Location"] == "/deliveries")
            #expect(browser.cookies.keys.sorted() == ["martlet"])
            expectContains(
                try await browser.get("/").text, "ann@acme.example <span class=\"quiet\">operator</span>")
            expectContains(
                try await web.json("/api/v1/sessions", as: .admin),
                #""person":"ann@acme.example","role":"operator","token":null,"provider":"https://id.acme.example""#)
        }
    }

    @Test func testThatTheProviderReturnsToTheAddressOfTheBrowser() async throws {
        try await withProvider(url: "https://127.0.0.1/ci") { web, fake in
            let answer = try await WebBrowser(web).get("/sign-in/openid")
            expectContains(
                answer["Location"] ?? "",
                "redirect_uri=https%3A%2F%2F127.0.0.1%2Fci%2Fsign-in%2Fopenid%2Fcallback")
            expectContains(answer["Set-Cookie"] ?? "", "__Host-martlet-openid=")
        }
    }

    @Test(.proves(.web, "Groups and verified mail domains of an OpenID Connect provider give roles"))
    func testThatTheSettingsGiveTheRoleOfEveryRequest() async throws {
        for (roles, role): (RoleRules, String?) in [
            (RoleRules([.admin: ["ci"], .viewer: ["*"]]), "admin"), (RoleRules([.viewer: ["@ACME.example"]]), "viewer"),
            (RoleRules([.operator: ["ann@acme.example"]]), "operator"), (RoleRules([.viewer: ["*"]]), "viewer"),
            (RoleRules([.admin: ["CI", "@acme.example.evil", "acme.example", "@example"]]), nil),
        ] {
            try await withProvider(roles: roles) { web, fake in
                let browser = WebBrowser(web)
                let answer = try await browser.get(try await begin(browser, fake))
                #expect(answer.status == (role == nil ? 403 : 303))
                if let role {
                    expectContains(try await browser.get("/").text, "<span class=\"quiet\">\(role)</span>")
                } else {
                    expectContains(answer.text, "ann@acme.example is signed in at the provider, but has no role here.")
                    #expect(try await web.store.sessions(at: WebFixture.now) == [])
                }
            }
        }
    }

    @Test(.proves(.web, "A person who matches several rules has each role on the bots of its rule"))
    func testThatAGroupHasARoleOnSomeBots() async throws {
        let roles = RoleRules([.init(.viewer, ["*"]), .init(.operator, ["ci"], on: BotScope(["kit"]))])
        try await withProvider(roles: roles) { web, fake in
            // given
            try await TwoTeams(web: web).fill()
            let browser = WebBrowser(web)
            // when
            _ = try await browser.get(try await begin(browser, fake))
            // then
            let page = try await browser.get("/bots/kit").text
            expectContains(page, "<span class=\"quiet\">viewer; operator on kit</span>")
            expectContains(page, "action=\"/bots/kit/integrate\"")
            expectLacks(try await browser.get("/bots/hidden-bot").text, "action=\"/bots/hidden-bot/integrate\"")
            try await browser.readToken()
            #expect(try await browser.post("/bots/hidden-bot/pause").status == 403)
            #expect(try await browser.post("/bots/kit/pause").status == 303)
        }
    }

    @Test func testThatAnUnverifiedAddressGivesNoRole() async throws {
        let fake = FakeProvider(
            now: WebFixture.now.millisecondsSinceEpoch / 1000,
            person: ["email": "ann@acme.example", "email_verified": false, "preferred_username": "ann"])
        try await withProvider(fake) { web, fake in
            let browser = WebBrowser(web)
            let answer = try await browser.get(try await begin(browser, fake))
            #expect(answer.status == 403)
            expectContains(answer.text, "ann (id.acme.example) is signed in at the provider, but has no role here.")
        }
    }

    @Test func testThatARoleThatTheSettingsTakeAwayIsGoneAtOnce() async throws {
        try await withProvider(roles: RoleRules([.viewer: ["staff"]])) { web, _ in
            // given a session of a time when the settings gave the group a role, and one of another provider
            for (digit, issuer) in [("a", "https://id.acme.example"), ("b", "https://id.other.example")] {
                let secret = try #require(SessionSecret(String(repeating: digit, count: 64)))
                let groups = issuer.contains("other") ? ["staff"] : ["ci"]
                try await web.store.createSession(
                    .provider(
                        person: "ann", ProviderStatement(issuer: issuer, mail: nil, groups: groups)),
                    hash: secret.hash, at: WebFixture.now)
                // when
                let browser = WebBrowser(web)
                browser.set("martlet", String(repeating: digit, count: 64))
                // then
                #expect(try await browser.get("/").status == 401)
            }
        }
    }

    // MARK: Forged answers

    @Test(.proves(.web, "Forged, expired and replayed OpenID answers are refused with a sentence"))
    func testThatAnAnswerOfAnotherBrowserIsRefused() async throws {
        try await withProvider { web, fake in
            // given an attacker's own answer, which a victim's browser is made to load
            let attacker = WebBrowser(web)
            let callback = try await begin(attacker, fake)
            // when
            let victim = WebBrowser(web)
            let answers = [
                try await victim.get(callback),
                // even if the victim has begun a sign-in
                try await {
                    _ = try await begin(victim, fake)
                    return try await victim.get(callback)
                }(),
            ]
            // then
            for answer in answers {
                #expect(answer.status == 403)
                expectContains(answer.text, "Sign in again.")
                #expect(victim.cookies["martlet"] == nil)
            }
        }
    }

    @Test(.proves(.web, "Forged, expired and replayed OpenID answers are refused with a sentence"))
    func testThatAReplayedAnswerIsRefused() async throws {
        try await withProvider { web, fake in
            let browser = WebBrowser(web)
            let callback = try await begin(browser, fake)
            let attempt = browser.cookies["martlet-openid"]
            #expect(try await browser.get(callback).status == 303)
            browser.set("martlet-openid", attempt)
            browser.set("martlet", nil)
            let again = try await browser.get(callback)
            #expect(again.status == 403)
            expectContains(again.text, "This answer of the provider was used already.")
            #expect(try await web.store.sessions(at: WebFixture.now).count == 1)
        }
    }

    @Test func testThatAnExpiredSignInIsRefused() async throws {
        try await withProvider { web, fake in
            let browser = WebBrowser(web)
            let old = SignInAttempt(
                next: "/", redirect: "http://127.0.0.1/sign-in/openid/callback", at: WebFixture.now + .seconds(-601))
            browser.set("martlet-openid", old.sealed(with: web.site.signInKey))
            let answer = try await browser.get("/sign-in/openid/callback?code=code-1&state=\(old.state)")
            #expect(answer.status == 403)
            expectContains(answer.text, "more than ten minutes ago")
            #expect(fake.requests == [])
        }
    }

    @Test(arguments: [
        ("error=access_denied&state=x", "access_denied"),
        ("error=%3Cb%3Ehello%20there", "The provider did not sign you in"),
        ("state=x", "has no code"), ("code=x", "has no code"), ("code=x&state=y", "belongs to another sign-in"),
        ("", "has no code"),
    ]) func testThatTheProvidersRefusalIsShownWithoutItsText(_ query: String, _ sentence: String) async throws {
        try await withProvider { web, fake in
            let browser = WebBrowser(web)
            _ = try await begin(browser, fake)
            let answer = try await browser.get("/sign-in/openid/callback?\(query)")
            #expect(answer.status == 403)
            expectContains(answer.text, sentence)
            expectLacks(answer.text, "hello")
            #expect(browser.cookies["martlet"] == nil && browser.cookies["martlet-openid"] == nil)
        }
    }

    @Test func testThatAForgedIDTokenOpensNoSession() async throws {
        let fake = FakeProvider(now: WebFixture.now.millisecondsSinceEpoch / 1000, person: Self.person) { draft in
            var draft = draft
            draft.header["alg"] = "none"
            return try draft.signingInput() + "."
        }
        try await withProvider(fake) { web, fake in
            let browser = WebBrowser(web)
            let answer = try await browser.get(try await begin(browser, fake))
            #expect(answer.status == 403)
            expectContains(answer.text, "has no asymmetric signature")
            #expect(try await web.store.sessions(at: WebFixture.now) == [])
        }
    }

    @Test func testThatAProviderThatIsDownIsNamed() async throws {
        let fake = FakeProvider(
            now: 0, person: [:], discovery: ["issuer": "https://id.attacker.example"])
        try await withProvider(fake) { web, _ in
            let answer = try await WebBrowser(web).get("/sign-in/openid")
            #expect(answer.status == 503)
            expectContains(answer.text, "The provider https://id.acme.example cannot sign anybody in")
            expectContains(answer.text, "sign in with a token")
            expectContains(web.logText, "nobody can sign in")
        }
    }

    @Test func testThatWithoutAProviderThereIsNone() async throws {
        try await withWeb { web in
            #expect(try await WebBrowser(web).get("/sign-in/openid").status == 404)
            #expect(try await WebBrowser(web).get("/sign-in/openid/callback?code=a&state=b").status == 404)
            expectLacks(try await WebBrowser(web).get("/sign-in").text, "With your account")
        }
    }
}
