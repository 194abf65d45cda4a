import HTTPTypes
import Model
import TestSupport
import Testing

@testable import Web

/// Tokens and the access that they give. Every route with every role is in `A02RoleTests`.
@Suite struct AccessTests {
    @Test(.proves(.web, "Tokens and roles: every route × none, viewer, operator, admin (A2)"))
    func testThatAllThatChangesNeedsMoreThanReading() async throws {
        try await withWeb { web in
            for route in web.table.routes where route.method != .get {
                #expect(![.open, .read, .product].contains(route.access), "\(route.method) \(route.pattern)")
            }
        }
    }

    @Test func testThatNoRouteHidesAnother() async throws {
        try await withWeb { web in
            for route in web.table.routes {
                guard case .route(let found, _) = web.table.match(route.method, path: A02RoleTests.path(of: route))
                else {
                    Issue.record("\(route.pattern) is not found")
                    continue
                }
                #expect(found.pattern == route.pattern)
            }
        }
    }

    @Test func testThatAnUnknownTokenIsRefusedEverywhere() async throws {
        let headers = [
            "Bearer mt_0000000000000000000000000000000000000000000000000000000000000000", "Bearer x", "Basic eDp5",
            "Digest a",
            "Bearer", "",
        ]
        try await withWeb { web in
            for header in headers {
                let answer = try await web.send("GET", "/api/v1/bots", headers: [("Authorization", header)])
                #expect(answer.status == 401)
                #expect(answer["Content-Type"] == "application/problem+json")
                #expect(answer["WWW-Authenticate"] == "Bearer realm=\"martlet\"")
            }
        }
    }

    @Test(.proves(.web, "Tokens and roles: every route × none, viewer, operator, admin (A2)"))
    func testThatARevokedTokenIsDeadAtOnce() async throws {
        try await withWeb { web in
            try await web.expect(200, "GET", "/api/v1/tokens", as: .admin)
            try await web.expect(204, "DELETE", "/api/v1/tokens/operator", as: .admin)
            try await web.expect(401, "GET", "/api/v1/bots", as: .operator)
        }
    }

    /// Browsers send Basic credentials by themselves, also for other sites.
    @Test func testThatBasicReadsButNeverChanges() async throws {
        try await withWeb(anonymousMayRead: false) { web in
            let token = try #require(web.tokens[.admin])
            let basic = [("Authorization", "Basic " + base64(Array("x:\(token.secret)".utf8)))]
            try await web.expect(200, "GET", "/api/v1/bots", headers: basic)
            try await web.expect(401, "DELETE", "/api/v1/tokens/viewer", headers: basic)
        }
    }

    @Test func testThatTokensAreMadeAndListedWithoutTheirSecrets() async throws {
        try await withWeb { web in
            // when
            let json = [("Content-Type", "application/json")]
            let made = try await web.send(
                "POST", "/api/v1/tokens", as: .admin, headers: json,
                body: Array(#"{"name":"robot","role":"operator"}"#.utf8))
            // then
            #expect(made.status == 201)
            let secret = try #require(made.text.split(separator: "\"").first { $0.hasPrefix("mt_") })
            let list = try await web.json("/api/v1/tokens", as: .admin)
            #expect(list.contains("robot") && !list.contains("mt_"))
            let bearer = [("Authorization", "Bearer \(secret)")]
            try await web.expect(404, "GET", "/api/v1/bots/x/webhook", headers: bearer)
            // A token's name is never used again.
            let again = try await web.send(
                "POST", "/api/v1/tokens", as: .admin, headers: json,
                body: Array(#"{"name":"robot","role":"viewer"}"#.utf8))
            #expect(again.status == 409)
        }
    }

    @Test(.proves(.jobs, "A request's body takes its keys alone"))
    func testThatABadBodyIsRefused() async throws {
        let rows = [
            (#"{"name":"Robot","role":"viewer"}"#, "application/json", 400),
            (#"{"name":"robot","role":"king"}"#, "application/json", 400),
            (#"{"name":"robot"}"#, "application/json", 400),
            (#"{"name":"robot","role":"viewer","expires":"never"}"#, "application/json", 400),
            ("[", "application/json", 400), (#"{"name":"robot","role":"viewer"}"#, "text/plain", 415),
            (#"{"name":"robot","role":"viewer"}"#, "application/x-www-form-urlencoded", 415),
        ]
        try await withWeb { web in
            for (body, type, status) in rows {
                let answer = try await web.send(
                    "POST", "/api/v1/tokens", as: .admin, headers: [("Content-Type", type)], body: Array(body.utf8))
                #expect(answer.status == status)
                #expect(answer["Content-Type"] == "application/problem+json")
            }
        }
    }

    private func base64(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        var text = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let number = (0..<3).reduce(0) { $0 << 8 | ($1 < group.count ? Int(group[start + $1]) : 0) }
            for place in 0..<4 {
                text.append(place <= group.count ? alphabet[number >> (18 - 6 * place) & 63] : "=")
            }
        }
        return text
    }
}
