import Basics
import Model
import Settings
import SignIn
import Storage
import TestSupport
import Testing

@testable import Web

/// Signing in with a token, and the session that follows.
@Suite struct SignInRoutesTests {
    private static let own = [("Origin", "http://127.0.0.1")]

    @Test(.proves(.web, "People sign in with a browser by pasting a token; the bar shows name and role, and signs out"))
    func testThatATokenOpensASession() async throws {
        try await withWeb(anonymousMayRead: false) { web in
            // given
            let browser = WebBrowser(web)
            #expect(try await browser.get("/").status == 401)
            // when
            let answer = try await browser.post(
                "/sign-in", ["token": " \(web.tokens[.operator]?.secret ?? "") ", "next": "/deliveries?limit=5"])
            // then
            #expect(answer.status == 303)
            #expect(answer["Location"] == "/deliveries?limit=5")
            #expect(answer["Cache-Control"] == "no-store")
            let cookie = try #require(answer["Set-Cookie"])
            #expect(cookie.hasPrefix("martlet="))
            #expect(cookie.hasSuffix("; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax"))
            let page = try await browser.get("/")
            #expect(page.status == 200)
            expectContains(page.text, "operator <span class=\"quiet\">operator</span>")
            expectContains(page.text, "action=\"/sign-out\"")
            expectLacks(page.text, ">Sign in</a>")
            #expect(page["Cache-Control"] == "no-store")
            #expect(page["Vary"]?.hasSuffix("Authorization, Cookie") == true)
        }
    }

    @Test func testThatTheCookieIsBoundToItsHostOverHTTPS() async throws {
        try await withWeb(url: "https://127.0.0.1") { web in
            // when
            let browser = try await WebBrowser.signedIn(web, as: .viewer)
            // then
            #expect(browser.cookies.keys.sorted() == ["__Host-martlet"])
            let again = try await browser.post(
                "/sign-in", ["token": web.tokens[.viewer]?.secret ?? ""])
            let cookie = try #require(again["Set-Cookie"])
            #expect(cookie.hasPrefix("__Host-martlet="))
            #expect(cookie.hasSuffix("; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure"))
        }
    }

    @Test(.proves(.web, "A session's cookie is `__Host-martlet` over https and `martlet` over http on loopback"))
    func testThatThePlaceOfABrowserIsKnown() {
        func place(
            _ url: String, _ authority: String?, proxied: Bool = false, _ scheme: String? = nil
        ) -> RequestPlace {
            ServedHosts(
                WebConfiguration(
                    listen: [], socket: nil, state: "", url: url, anonymousMayRead: true, version: "")
            ).place(authority: authority, isThroughProxy: proxied, scheme: scheme, base: "")
        }
        // given
        let rows: [(RequestPlace, String?, String)] = [
            (place("https://ci.example", "ci.example"), "__Host-martlet", "https://ci.example"),
            (place("https://ci.example", "CI.example"), "__Host-martlet", "https://ci.example"),
            (place("https://ci.example", "127.0.0.1:8080"), "martlet", "http://127.0.0.1:8080"),
            (place("http://127.0.0.1:8080", "localhost:8080"), "martlet", "http://localhost:8080"),
            (place("http://127.0.0.1:8080", "[::1]:8080"), "martlet", "http://[::1]:8080"),
            (place("http://ci.example", "ci.example"), nil, "http://ci.example"),
            (place("http://ci.example", "10.0.0.7"), nil, "http://10.0.0.7"),
            (place("http://ci.example", nil), nil, "http://"),
            // A proxy that the settings trust states the scheme, and may ask by another name.
            (place("http://a", "ci.example", proxied: true, "https"), "__Host-martlet", "https://ci.example"),
            (place("https://ci.example", "127.0.0.1:8080", proxied: true), "__Host-martlet", "https://ci.example"),
            (place("http://a", "ci.example", proxied: true, "https, http"), nil, "http://ci.example"),
        ]
        // then
        for (place, cookie, root) in rows {
            #expect(place.cookie("martlet") == cookie, "\(place)")
            #expect(place.root == root)
        }
    }

    @Test func testThatPlainHTTPFromElsewhereOpensNoSession() async throws {
        try await withWeb(url: "http://ci.example", hosts: ["ci.example"]) { web in
            let body = "token=\(web.tokens[.admin]?.secret ?? "")"
            let text = try await RawAnswer.exchange(
                "POST /sign-in HTTP/1.1\r\nHost: ci.example\r\nOrigin: http://ci.example\r\nConnection: close\r\n"
                    + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
                    + body, port: web.port)
            expectContains(text, "HTTP/1.1 403")
            expectContains(text, "Signing in needs https")
            expectLacks(text.lowercased(), "set-cookie")
        }
    }

    @Test(
        .proves(.web, "A sign-in returns to where one was, and only to paths of the service"),
        arguments: [
            "//evil.example", "/\\evil.example", "https://evil.example", "https:evil.example", "javascript:alert(1)",
            "evil", "", "/\t/evil.example", "/a b", "/ä", "/" + String(repeating: "a", count: 2000),
            "/a\r\nSet-Cookie: x=y",
        ])
    func testA13ThatNextLeadsNowhereElse(_ next: String) async throws {
        try await withWeb { web in
            let answer = try await WebBrowser(web).post(
                "/sign-in", ["token": web.tokens[.viewer]?.secret ?? "", "next": next])
            #expect(answer.status == 303)
            #expect(answer["Location"] == "/")
            #expect(answer["x"] == nil)
        }
    }

    @Test func testThatAFormWithANULOpensNoSession() async throws {
        try await withWeb { web in
            let answer = try await WebBrowser(web).post(
                "/sign-in", ["token": web.tokens[.viewer]?.secret ?? "", "next": "/a\u{0}"])
            #expect(answer.status == 400)
            expectContains(answer.text, "The form is not encoded as a browser encodes one.")
            #expect(answer["Set-Cookie"] == nil)
        }
    }

    @Test func testThatAPageThatNeedsARightOffersSignInAndTheWayBack() async throws {
        try await withWeb(anonymousMayRead: false) { web in
            let page = try await WebBrowser(web).get("/bots/kit/7?failing")
            #expect(page.status == 401)
            expectContains(page.text, "href=\"/sign-in?next=%2Fbots%2Fkit%2F7%3Ffailing\"")
            // A dialog of the browser would hide the page.
            #expect(page["WWW-Authenticate"] == "Bearer realm=\"martlet\"")
            let form = try await WebBrowser(web).get("/sign-in?next=%2Fbots%2Fkit%2F7%3Ffailing")
            expectContains(form.text, "name=\"next\" value=\"/bots/kit/7?failing\"")
        }
    }

    // MARK: Failures

    @Test(.proves(.web, "Failed sign-ins are slowed down by address"))
    func testThatFailedSignInsAreSlowedDown() async throws {
        try await withWeb { web in
            // given
            let browser = WebBrowser(web)
            for text in ["", "mt_", "<b>", "mt_" + String(repeating: "0", count: 64)] {
                let answer = try await browser.post("/sign-in", ["token": text])
                #expect(answer.status == 401)
                expectContains(answer.text, "This token is not known here, or it was revoked.")
                expectLacks(answer.text, "<b>")
                #expect(answer["Set-Cookie"] == nil)
            }
            // when
            for _ in 4..<FailedLogins.limit { _ = web.site.failedLogins.fail(from: nil, at: WebFixture.now) }
            let address = IPAddress("127.0.0.1")?.network
            for _ in 4..<FailedLogins.limit { _ = web.site.failedLogins.fail(from: address, at: WebFixture.now) }
            let answer = try await browser.post("/sign-in", ["token": "x"])
            // then
            #expect(answer.status == 429)
            #expect(answer["Retry-After"] == "3")
            // A token that is right works all the same: nobody locks others out.
            _ = try await WebBrowser.signedIn(web, as: .viewer)
        }
    }

    @Test func testThatTheSignInFormComesFromAPageOfTheService() async throws {
        try await withWeb { web in
            let token = web.tokens[.admin]?.secret ?? ""
            for origin in [
                [("Origin", "https://attacker.example")], [("Origin", "null")], [("Sec-Fetch-Site", "cross-site")],
                [("Sec-Fetch-Site", "same-site")],
            ] {
                let answer = try await WebBrowser(web).post("/sign-in", ["token": token], origin: origin)
                #expect(answer.status == 403, "\(origin)")
                #expect(answer["Set-Cookie"] == nil)
            }
            let same = try await WebBrowser(web).post(
                "/sign-in", ["token": token], origin: [("Sec-Fetch-Site", "same-origin")])
            #expect(same.status == 303)
        }
    }

    @Test func testA5ThatAPlantedCookieIsWorthNothing() async throws {
        try await withWeb(anonymousMayRead: false) { web in
            // given
            let browser = WebBrowser(web)
            let planted = String(repeating: "a", count: 64)
            browser.set("martlet", planted)
            #expect(try await browser.get("/").status == 401)
            // when
            _ = try await browser.post("/sign-in", ["token": web.tokens[.viewer]?.secret ?? ""])
            // then
            #expect(browser.cookies["martlet"] != planted)
            let thief = WebBrowser(web)
            thief.set("martlet", planted)
            #expect(try await thief.get("/").status == 401)
        }
    }

    @Test func testA5ThatASignInAgainEndsTheSessionBefore() async throws {
        try await withWeb { web in
            let browser = try await WebBrowser.signedIn(web, as: .viewer)
            let before = browser.cookies["martlet"]
            _ = try await browser.post("/sign-in", ["token": web.tokens[.admin]?.secret ?? ""])
            #expect(try await web.store.sessions(at: WebFixture.now).map(\.person) == ["admin"])
            browser.set("martlet", before)
            let page = try await browser.get("/sessions")
            #expect(page.status == 401)
            expectContains(page.text, "Your session has ended. Sign in again.")
        }
    }

    @Test(.proves(.web, "People sign in with a browser by pasting a token; the bar shows name and role, and signs out"))
    func testA5ThatSigningOutEndsTheSession() async throws {
        try await withWeb(anonymousMayRead: false) { web in
            // given
            let browser = try await WebBrowser.signedIn(web, as: .operator)
            let (cookie, csrf) = (browser.cookies["martlet"], browser.csrf)
            // when
            let answer = try await browser.post("/sign-out")
            // then
            #expect(answer.status == 303)
            #expect(answer["Location"] == "/sign-in?out")
            #expect(browser.cookies == [:])
            expectContains(try await browser.get("/sign-in?out").text, "You are signed out.")
            // Replayed
            browser.set("martlet", cookie)
            #expect(try await browser.get("/").status == 401)
            #expect(try await browser.post("/sign-out", csrf: csrf).status == 401)
            #expect(try await web.store.sessions(at: WebFixture.now) == [])
        }
    }

    @Test func testThatARevokedTokenEndsItsSessionsAtOnce() async throws {
        try await withWeb(anonymousMayRead: false) { web in
            let browser = try await WebBrowser.signedIn(web, as: .operator)
            #expect(try await browser.get("/").status == 200)
            try await web.expect(204, "DELETE", "/api/v1/tokens/operator", as: .admin)
            #expect(try await browser.get("/").status == 401)
        }
    }

    @Test func testThatAnIdleSessionHasEnded() async throws {
        try await withWeb(anonymousMayRead: false) { web in
            // given sessions that were used 30 days ago, and a second less
            for (digit, age) in [("a", Int64(30 * 86_400)), ("b", 30 * 86_400 - 1)] {
                let secret = try #require(SessionSecret(String(repeating: digit, count: 64)))
                try await web.store.createSession(
                    .token(name: "viewer"), hash: secret.hash, at: WebFixture.now + .seconds(-age))
            }
            // when
            for (digit, status) in [("a", 401), ("b", 200)] {
                let browser = WebBrowser(web)
                browser.set("martlet", String(repeating: digit, count: 64))
                #expect(try await browser.get("/").status == status, "\(digit)")
            }
        }
    }

    @Test func testThatNoFileAndNoAnswerHoldsASessionsSecret() async throws {
        try await withWeb { web in
            let browser = try await WebBrowser.signedIn(web, as: .admin)
            let secret = try #require(browser.cookies["martlet"])
            for path in ["/", "/sessions", "/api/v1/sessions"] {
                expectLacks(try await browser.get(path).text, secret)
            }
            expectLacks(web.logText, secret)
            let root = try web.directory.directory()
            var found = 0
            try root.walk("state", limit: 10_000) { path, status in
                guard status.kind == .file else { return }
                if try root.read(path, limit: 64 << 20).contains(secret[...]) { found += 1 }
            }
            #expect(found == 0)
        }
    }

    @Test(arguments: [
        "martlet=", "martlet=x", "martlet=" + String(repeating: "A", count: 64),
        "martlet=" + String(repeating: "a", count: 65), "martlet=a; martlet=b", "; ;=;martlet", "martlet",
    ]) func testThatMalformedCookiesAreNoSession(_ cookie: String) async throws {
        try await withWeb(anonymousMayRead: false) { web in
            try await web.expect(401, "GET", "/", headers: [("Cookie", cookie)])
        }
    }
}
