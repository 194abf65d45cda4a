import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// No client makes itself the service's owner from outside.
@Suite struct A12FirstOwnerTests {
    private static let paths = [
        "/setup", "/install", "/install.php", "/init", "/admin", "/admin/setup", "/api/v1/setup", "/api/v1/install",
        "/api/v1/users",
        "/api/v1/tokens/first", "/register", "/signup", "/login", "/setupAdmin.html", "/app/rest/users", "/api/v1/init",
    ]

    private static func bodies(_ web: WebFixture) async throws {
        let body = Array(#"{"name":"owner","role":"admin"}"#.utf8)
        let json = [("Content-Type", "application/json")]
        try await web.expect(401, "POST", "/api/v1/tokens", headers: json, body: body)
        for path in paths {
            for method in ["GET", "POST", "PUT"] {
                let answer = try await web.send(method, path, headers: json, body: method == "GET" ? [] : body)
                #expect([404, 405].contains(answer.status), "\(method) \(path): \(answer.status)")
            }
        }
    }

    @Test func testA12ThatNoOneBecomesAdminWhereNoTokenIsLeft() async throws {
        try await withWeb { web in
            // given
            try await Self.bodies(web)
            for token in try await web.store.tokens() {
                #expect(try await web.store.revokeToken(name: token.name, at: WebFixture.now))
            }
            #expect(try await !web.store.hasTokens())
            // when, then
            try await Self.bodies(web)
            #expect(try await !web.store.hasTokens())
        }
    }

    /// Nor does an empty table make one, as after the first start.
    @Test func testA12ThatNoOneBecomesAdminOfANewService() async throws {
        try await withWeb(makesTokens: false) { web in
            #expect(try await web.store.tokens().isEmpty)
            try await Self.bodies(web)
            #expect(try await web.store.tokens().isEmpty)
            // The socket's peer is the daemon's own user, or root. It makes the first token.
            #expect(try await martlet(["token", "create", "owner", "--role", "admin"], web).status == 0)
            try await Self.bodies(web)
            #expect(try await web.store.tokens().count == 1)
        }
    }

    @Test(arguments: ["0.0.0.0", "::", "192.0.2.1", "ci.example"])
    func testA12ThatAServiceWithoutAnOwnerListensOnLoopbackAlone(_ host: String) {
        let configuration = WebConfiguration(
            listen: [.init(host: "127.0.0.1", port: 1), .init(host: host, port: 1)], socket: nil, state: "/", url: "",
            anonymousMayRead: true, version: "1")
        #expect(configuration.refusalToListen(hasTokens: false) != nil)
        #expect(configuration.refusalToListen(hasTokens: true) == nil)
    }
}
