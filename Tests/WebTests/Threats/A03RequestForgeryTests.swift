import HTTPTypes
import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// Requests that a page of another site makes a browser send.
@Suite struct A03RequestForgeryTests {
    private static let foreign: [[(String, String)]] = [
        [("Origin", "https://attacker.example")], [("Origin", "null")], [("Origin", "http://127.0.0.1:1")],
        [("Origin", "https://ci.example")], [("Sec-Fetch-Site", "cross-site")],
    ]

    /// Whether a route changes something. A signed request comes from another server, not from a page.
    private static func changes(_ route: Route) -> Bool { route.method != .get && route.access != .signature }

    @Test(.proves(.web, "Pages of other sites change nothing and open no stream (A3, A4)"), arguments: foreign)
    func testA3ThatAPageOfAnotherSiteChangesNothingEvenWithAToken(_ headers: [(String, String)]) async throws {
        try await withWeb { web in
            let routes = web.table.routes.filter(Self.changes)
            #expect(routes.count > 9)
            for route in routes {
                let answer = try await web.send(
                    route.method.rawValue, A02RoleTests.path(of: route), as: .admin,
                    headers: headers + [("Content-Type", "application/json"), ("Cookie", "session=1")])
                #expect(answer.status == 403, "\(route.method) \(route.pattern): \(answer.text)")
                #expect(answer["Access-Control-Allow-Origin"] == nil)
            }
        }
    }

    @Test func testA3ThatACookieIsNoToken() async throws {
        try await withWeb(anonymousMayRead: false) { web in
            let secret = try #require(web.tokens[.admin]).secret
            for cookie in [
                "token=\(secret)", "session=\(secret)", "Authorization=Bearer \(secret)", "__Host-session=\(secret)",
            ] {
                for route in web.table.routes where !route.access.isWithoutUser {
                    let answer = try await web.send(
                        route.method.rawValue, A02RoleTests.path(of: route), headers: [("Cookie", cookie)])
                    #expect(answer.status == 401, "\(route.method) \(route.pattern): \(cookie)")
                }
            }
        }
    }

    /// The types that a form, or a script without our permission, can send (fetch.spec.whatwg.org, "CORS-safelisted request-header").
    @Test(arguments: [
        "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a",
        "text/plain;application/json",
    ])
    func testA3ThatAFormsTypeIsNotTakenForJSON(_ type: String) async throws {
        try await withWeb { web in
            try await SampleContent(web: web).fill()
            let bodies = [
                ("POST", "/api/v1/tokens", #"{"name":"robot","role":"admin"}"#),
                ("POST", "/api/v1/bots/kit/integrations", #"{"ref":"main"}"#),
                ("POST", "/api/v1/bots/kit/integrations/1/rerun", #"{"failed":true}"#),
                ("POST", "/api/v1/bots/kit/integrations/1/issues/ffffff/silence", #"{"reason":"r"}"#),
                ("POST", "/api/v1/prune", #"{"dryRun":true}"#),
            ]
            for (method, path, body) in bodies {
                let answer = try await web.send(
                    method, path, as: .admin, headers: [("Content-Type", type)], body: Array(body.utf8))
                #expect(answer.status == 415, "\(path): \(answer.status) \(answer.text)")
            }
            #expect(try await web.store.tokens().count == Role.allCases.count)
        }
    }

    @Test func testA3ThatNoPageIsAllowedToReadOrToAskFirst() async throws {
        try await withWeb { web in
            for route in web.table.routes where route.access != .signature {
                let answer = try await web.send(
                    "OPTIONS", A02RoleTests.path(of: route),
                    headers: [("Origin", "https://attacker.example"), ("Access-Control-Request-Method", "DELETE")])
                #expect(![200, 204].contains(answer.status), "\(route.pattern)")
                #expect(
                    !answer.headers.contains { $0.name.lowercased().hasPrefix("access-control-") }, "\(route.pattern)")
            }
        }
    }

    /// The service's own page may send requests, under whatever name it is open.
    @Test(.proves(.web, "Pages of other sites change nothing and open no stream (A3, A4)"))
    func testThatItsOwnPagesAreNotForeign() async throws {
        try await withWeb(url: "https://ci.example:8443") { web in
            let own = ["https://ci.example:8443", "http://127.0.0.1"]
            for origin in own {
                let answer = try await web.send(
                    "DELETE", "/api/v1/tokens/nobody", as: .admin,
                    headers: [("Origin", origin), ("Sec-Fetch-Site", "same-origin")])
                #expect(answer.status == 404, "\(origin)")
            }
        }
    }
}
