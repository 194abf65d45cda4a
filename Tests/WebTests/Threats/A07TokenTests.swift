import Basics
import Foundation
import HTTPTypes
import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// Tokens: their storage, their places in requests, and texts that are no token. The time until a revoked one is dead is in `LiveAnswersTests`, the
/// tries of an address are in `FailedLoginsTests`.
@Suite struct A07TokenTests {
    private static let json = [("Content-Type", "application/json")]

    @Test func testA7ThatNoFileAndNoAnswerHoldsASecret() async throws {
        try await withWeb { web in
            // given
            let made = try await web.send(
                "POST", "/api/v1/tokens", as: .admin, headers: Self.json,
                body: Array(#"{"name":"robot","role":"operator"}"#.utf8))
            let secret = try #require(made.text.split(separator: "\"").first { $0.hasPrefix("mt_") })
            try await web.expect(
                204, "DELETE", "/api/v1/tokens/robot",
                headers: [("Authorization", "Bearer \(web.tokens[.admin]?.secret ?? "")")])
            let hash = try #require(BearerToken(String(secret))).hash
            // when
            var files = 0
            let root = try web.directory.directory()
            var found: [String] = []
            var hasHash = false
            try root.walk("state", limit: 10_000) { path, status in
                guard status.kind == .file else { return }
                files += 1
                let bytes = try root.read(path, limit: 64 << 20)
                if bytes.contains(secret) || bytes.contains(secret.dropFirst(3)) {
                    found.append(String(decoding: path, as: UTF8.self))
                }
                if bytes.contains(hash) { hasHash = true }
            }
            // then
            #expect(found == [])
            #expect(hasHash && files > 0, "what is looked for would be found: its hash is")
            for path in ["/api/v1/tokens", "/metrics", "/openapi.json", "/api/v1/deliveries"] {
                #expect(!(try await web.json(path, as: .admin)).contains(secret))
            }
            #expect(!web.logText.contains(secret))
        }
    }

    /// No address contains a token, because histories, proxies and their logs store addresses.
    @Test(arguments: [
        "/api/v1/tokens?token=TOKEN", "/api/v1/tokens?access_token=TOKEN",
        "/api/v1/tokens?Authorization=Bearer%20TOKEN",
        "/api/v1/tokens?private_token=TOKEN", "/api/v1/tokens;token=TOKEN", "/TOKEN/api/v1/tokens",
        "/api/v1/tokens#TOKEN",
    ])
    func testA7ThatATokenInAnAddressIsNone(_ target: String) async throws {
        try await withWeb(anonymousMayRead: false) { web in
            let secret = try #require(web.tokens[.admin]).secret
            let answer = try await web.send("GET", target.replacing("TOKEN", with: secret))
            #expect([400, 401, 404].contains(answer.status), "\(answer.status)")
            #expect(!answer.text.contains(secret))
            #expect(!web.logText.contains(secret))
        }
    }

    @Test(arguments: [
        "X-Auth-Token", "Private-Token", "X-Api-Key", "Proxy-Authorization", "X-Forwarded-User", "Remote-User",
        "Martlet-Person",
    ])
    func testA7ThatNoOtherHeaderLetsIn(_ header: String) async throws {
        try await withWeb(anonymousMayRead: false) { web in
            let secret = try #require(web.tokens[.admin]).secret
            for value in [secret, "Bearer \(secret)", "admin"] {
                try await web.expect(401, "GET", "/api/v1/tokens", headers: [(header, value)])
            }
        }
    }

    /// Every other spelling is refused, so no token is found by trying. The secret is looked up by its hash, and a hash that differs in one digit
    /// reveals nothing about the secret.
    @Test func testA7ThatOnlyTheWholeTokenIsOne() async throws {
        try await withWeb { web in
            let secret = try #require(web.tokens[.admin]).secret
            let last = secret.last == "0" ? "1" : "0"
            let wrong = [
                secret.dropLast() + last, secret + "0", String(secret.dropLast()), secret.uppercased(),
                String(secret.dropFirst(3)),
                " " + secret + "\t0", BearerToken(secret)?.hash ?? "",
                "mt_" + (BearerToken(secret)?.hash ?? ""),
                "mt_" + String(repeating: "0", count: 64), secret + "\0",
            ].map { String($0) }
            for secret in wrong {
                let answer = try await web.send(
                    "GET", "/api/v1/tokens", headers: [("Authorization", "Bearer \(secret)")])
                #expect([400, 401].contains(answer.status), "\(secret)")
            }
            try await web.expect(200, "GET", "/api/v1/tokens", as: .admin)
        }
    }

    @Test func testA7ThatARevokedTokenIsDeadAtOnceEverywhere() async throws {
        try await withWeb { web in
            try await web.expect(204, "DELETE", "/api/v1/tokens/operator", as: .admin)
            let routes = web.table.routes.filter { !$0.access.isWithoutUser }
            for route in routes where !route.access.isForm || route.method == .get {
                try await web.expect(401, route.method.rawValue, A02RoleTests.path(of: route), as: .operator)
            }
        }
    }

    // MARK: A5: only signing in sets a cookie; see SignInRoutesTests

    @Test func testA5ThatNoOtherCookieIsEverSetOrTaken() async throws {
        try await withWeb(anonymousMayRead: false) { web in
            try await SampleContent(web: web).fill()
            let secret = try #require(web.tokens[.admin]).secret
            for route in web.table.routes where !["/api/v1/events", "/live/events"].contains(route.pattern.description)
            {
                for role in [nil, Role.viewer, .admin] {
                    let answer = try await web.send(
                        route.method.rawValue, A02RoleTests.path(of: route).replacing("nobody", with: "kit"), as: role,
                        headers: [("Cookie", "session=fixed; __Host-session=\(secret)"), ("Accept", "text/html")])
                    #expect(answer["Set-Cookie"] == nil && answer["Set-Cookie2"] == nil, "\(route.pattern)")
                    if role == nil, !route.access.isWithoutUser {
                        #expect(answer.status == 401, "\(route.method) \(route.pattern)")
                    }
                }
            }
        }
    }

    // MARK: A6: no JWT is a token

    private static func base64(_ text: String) -> String {
        Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
            "=", with: "")
    }

    private static var forgeries: [String] {
        let claims = base64(#"{"sub":"admin","name":"admin","role":"admin","exp":99999999999}"#)
        let headers = [
            #"{"alg":"none"}"#, #"{"alg":"None"}"#, #"{"alg":"NONE","typ":"JWT"}"#, #"{"alg":"HS256"}"#,
            #"{"alg":"RS256","jwk":{"kty":"RSA","n":"AQAB","e":"AQAB"}}"#,
            #"{"alg":"HS256","kid":"../../../../dev/null"}"#,
            #"{"alg":"HS256","kid":"/etc/hostname"}"#, #"{"alg":"HS256","kid":"x' UNION SELECT 'a"}"#,
            #"{"alg":"RS256","jku":"https://attacker.example/keys"}"#,
            #"{"alg":"RS256","x5u":"https://attacker.example/c"}"#,
            #"{"alg":"ES256"}"#, #"{"alg":"HS256","b64":false,"crit":["b64"]}"#,
        ]
        return headers.enumerated().map { index, header in
            let signature = index < 3 ? "" : base64(String(repeating: "\(index % 10)", count: 32))
            return "\(base64(header)).\(claims).\(signature)"
        }
    }

    @Test(arguments: forgeries) func testA6ThatNoForgedJWTIsAToken(_ forged: String) async throws {
        try await withWeb { web in
            for header in [
                "Bearer \(forged)", "JWT \(forged)", "Basic \(Data("x:\(forged)".utf8).base64EncodedString())",
            ] {
                try await web.expect(401, "GET", "/api/v1/bots", headers: [("Authorization", header)])
            }
        }
    }
}
