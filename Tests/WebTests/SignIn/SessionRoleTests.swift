import HTTPTypes
import Model
import Settings
import Storage
import TestSupport
import Testing

@testable import Web

/// Every route with a session of every role, and the forms without what they need.
@Suite struct SessionRoleTests {
    /// Returns the refusal of a session; `nil` if the route permits it.
    private static func refusal(_ route: Route, _ role: Role) -> Int? {
        switch route.access {
        case .open, .read, .product, .signIn, .attempt, .signature: nil
        case .role(let needed):
            // A session alone changes nothing.
            role < needed || route.method != .get ? 403 : nil
        case .form(let needed): role < needed ? 403 : nil
        case .local: 403
        }
    }

    @Test(.proves(.web, "Route × role matrix for sessions"), arguments: Role.allCases)
    func testA2ThatASessionGetsWhatItsRoleSays(_ role: Role) async throws {
        try await withWeb(anonymousMayRead: false) { web in
            // given
            let browser = try await WebBrowser.signedIn(web, as: role)
            let cookie = browser.cookies["martlet"]
            // when
            for route in web.table.routes where !["/api/v1/events", "/live/events"].contains(route.pattern.description)
            {
                let path = A02RoleTests.path(of: route)
                if ["/sign-out", "/sign-in"].contains(path), route.method == .post { continue }
                // A session is no signature; A02RoleTests has those.
                if route.access == .signature { continue }
                let answer =
                    switch route.method {
                    case .get: try await browser.get(path)
                    case .post: try await browser.post(path, ["token": "x"])
                    default:
                        try await web.send(
                            route.method.rawValue, path, headers: browser.all + [("Origin", "http://127.0.0.1")])
                    }
                // then
                let what = "\(route.method) \(path) by \(role): \(answer.text.prefix(300))"
                if let refusal = Self.refusal(route, role) {
                    #expect(answer.status == refusal, "\(what)")
                } else {
                    #expect(![401, 403, 500].contains(answer.status), "\(what)")
                }
                if route.access == .form(.operator), role >= .operator { #expect(answer.status == 303, "\(what)") }
            }
            #expect(browser.cookies["martlet"] == cookie)
        }
    }

    @Test(.proves(.web, "Every changing form has a CSRF token, and its origin is checked: without them 403"))
    func testA3ThatAFormWithoutItsTokenOrFromElsewhereIsRefused() async throws {
        try await withWeb { web in
            let browser = try await WebBrowser.signedIn(web, as: .admin)
            let other = try await WebBrowser.signedIn(web, as: .admin)
            #expect(browser.csrf != other.csrf)
            let forms = web.table.routes.filter { if case .form = $0.access { true } else { false } }
            #expect(forms.count == 14)
            for form in forms {
                let path = A02RoleTests.path(of: form)
                for csrf in ["", "x", other.csrf, String(browser.csrf.dropLast()), browser.csrf.uppercased()] {
                    let answer = try await browser.post(path, csrf: csrf)
                    #expect(answer.status == 403, "\(path) with \(csrf)")
                    expectContains(answer.text, "This form is not of your session")
                }
                for origin in [
                    [("Origin", "null")], [("Origin", "https://attacker.example")],
                    [("Origin", "http://127.0.0.1:1")], [("Sec-Fetch-Site", "cross-site")],
                    [("Sec-Fetch-Site", "same-site")], [("Sec-Fetch-Site", "none")],
                ] {
                    #expect(try await browser.post(path, origin: origin).status == 403, "\(path) from \(origin)")
                }
            }
            #expect(try await web.store.sessions(at: WebFixture.now).count == 2)
        }
    }

    @Test(.proves(.web, "A session alone never changes anything by the JSON interface"))
    func testA3ThatTheInterfaceNeedsTheFormToken() async throws {
        try await withWeb { web in
            let browser = try await WebBrowser.signedIn(web, as: .admin)
            let own = [("Origin", "http://127.0.0.1"), ("Content-Type", "application/json")]
            for (token, status) in [(nil, 403), ("", 403), ("x", 403), (browser.csrf, 204)] {
                let headers = browser.all + own + (token.map { [("X-CSRF-Token", $0)] } ?? [])
                let answer = try await web.send("DELETE", "/api/v1/tokens/operator", headers: headers)
                #expect(answer.status == status, "\(token ?? "no token"): \(answer.text)")
            }
            // Reading needs none.
            #expect(try await browser.get("/api/v1/tokens").status == 200)
        }
    }

    @Test func testThatATokenFillsInNoForm() async throws {
        try await withWeb { web in
            let headers = [
                ("Origin", "http://127.0.0.1"), ("Content-Type", "application/x-www-form-urlencoded"),
            ]
            let answer = try await web.send("POST", "/outbox/1/retry", as: .admin, headers: headers)
            #expect(answer.status == 401)
            expectContains(answer.text, "This is a form of a page")
        }
    }

    @Test(.proves(.badInput, "A form has at most 64 KiB and 1,000 fields"))
    func testThatFormsAreBounded() async throws {
        try await withWeb { web in
            let browser = try await WebBrowser.signedIn(web, as: .operator)
            func send(_ body: String, type: String = "application/x-www-form-urlencoded") async throws -> Int {
                try await web.send(
                    "POST", "/outbox/1/retry",
                    headers: browser.all + [("Origin", "http://127.0.0.1"), ("Content-Type", type)],
                    body: Array(body.utf8)
                ).status
            }
            let csrf = "csrf=\(browser.csrf)"
            #expect(try await send(csrf + String(repeating: "&a=b", count: 999)) == 303)
            #expect(try await send(csrf + String(repeating: "&a=b", count: 1000)) == 413)
            #expect(try await send(csrf + "&a=" + String(repeating: "a", count: 65_000)) == 303)
            #expect(try await send(csrf + "&a=" + String(repeating: "a", count: 66_000)) == 413)
            #expect(try await send(csrf + "&a=%FF") == 400)
            #expect(try await send(csrf + "&a=%zz") == 400)
            #expect(try await send(csrf, type: "text/plain") == 415)
            #expect(try await send(csrf, type: "multipart/form-data; boundary=a") == 415)
        }
    }

    @Test func testThatAPersonEndsOnlyTheirOwnSessions() async throws {
        try await withWeb { web in
            let (viewer, admin) = (
                try await WebBrowser.signedIn(web, as: .viewer), try await WebBrowser.signedIn(web, as: .admin)
            )
            let sessions = try await web.store.sessions(at: WebFixture.now)
            let ids = Dictionary(sessions.map { ($0.person, $0.id) }) { first, _ in first }
            let (foreign, own) = (try #require(ids["admin"]), try #require(ids["viewer"]))
            expectLacks(try await viewer.get("/sessions").text, "action=\"/sessions/\(foreign)/end\"")
            expectContains(try await viewer.act("/sessions/\(foreign)/end"), "Nothing was changed: There is no such")
            expectContains(try await admin.get("/sessions").text, "this browser")
            expectContains(try await admin.act("/sessions/\(own)/end"), "Session \(own) has ended.")
            #expect(try await viewer.get("/sessions").status == 401)
        }
    }

    @Test func testThatSessionsAreListedWithTheTokens() async throws {
        try await withWeb { web in
            _ = try await WebBrowser.signedIn(web, as: .operator)
            let json = try await web.json("/api/v1/sessions", as: .admin)
            expectContains(json, #""person":"operator","role":"operator","token":"operator","provider":null"#)
            let listed = try await martlet(["token", "list"], web).stdout
            expectContains(listed, "\n1        operator  operator  2026-03-01T12:00:00.000Z  ")
            expectContains(try await martlet(["token", "end-session", "1"], web).stdout, "session 1 has ended\n")
            #expect(try await web.store.sessions(at: WebFixture.now) == [])
            try await web.expect(404, "DELETE", "/api/v1/sessions/1", as: .admin)
        }
    }

    // MARK: The header of a proxy

    private static let header = SignInSettings(
        header: HeaderSettings(
            name: "X-Remote-User", from: ["127.0.0.1"],
            roles: RoleRules([.operator: ["ann", "@acme.example"], .viewer: ["bob"]])))

    @Test(
        .proves(.web, "People sign in by the header of a trusted reverse proxy; from any other address it is ignored"))
    func testThatAProxyNamesThePerson() async throws {
        try await withWeb(anonymousMayRead: false, signIn: Self.header) { web in
            for (name, status, role) in [
                ("ann", 200, "operator"), ("eve@acme.example", 200, "operator"), ("bob", 200, "viewer"),
                ("mallory", 401, ""), ("ann,bob", 401, ""), ("", 401, ""), ("eve@acme.example.evil", 401, ""),
            ] {
                let browser = WebBrowser(web)
                browser.headers = [("X-Remote-User", name)]
                let page = try await browser.get("/")
                #expect(page.status == status, "\(name)")
                if status == 200 {
                    expectContains(page.text, "\(name) <span class=\"quiet\">\(role)</span>")
                    // The proxy signs out.
                    expectLacks(page.text, "action=\"/sign-out\"")
                    #expect(page["Vary"]?.hasSuffix("Authorization, Cookie, X-Remote-User") == true)
                }
            }
            try await web.expect(
                401, "GET", "/", headers: [("X-Remote-User", "mallory"), ("X-Remote-User", "ann")])
        }
    }

    @Test func testThatTheHeaderFromAnotherAddressIsIgnored() async throws {
        var settings = Self.header
        settings.header?.from = ["127.0.0.2", "::1"]
        try await withWeb(anonymousMayRead: false, signIn: settings) { web in
            for forged in [[], [("X-Forwarded-For", "127.0.0.2")]] {
                try await web.expect(401, "GET", "/", headers: [("X-Remote-User", "ann")] + forged)
            }
        }
    }

    @Test func testThatAProxysPersonNeedsTheFormTokenToo() async throws {
        try await withWeb(signIn: Self.header) { web in
            try await SampleContent(web: web).fill()
            let browser = WebBrowser(web)
            browser.headers = [("X-Remote-User", "ann")]
            #expect(try await browser.post("/outbox/1/retry").status == 403)
            let page = try await browser.get("/products/kit/1.0.0")
            let csrf = page.text.pieces("name=\"csrf\" value=\"").dropFirst().first?.prefix { $0 != "\"" }
            let answer = try await browser.post("/products/kit/1.0.0/yank", csrf: String(try #require(csrf)))
            #expect(answer.status == 303)
            #expect(try await web.send("POST", "/api/v1/prune", headers: browser.headers).status == 403)
        }
    }
}
