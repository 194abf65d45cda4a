import HTTPTypes
import Model
import TestSupport
import Testing

@testable import Web

/// The access rules of all routes. A route that is missing from this table, or has another rule, fails. A new route is entered by hand, after
/// deciding who may call it.
@Suite struct A02RoleTests {
    private static let rules: [String: String] = [
        "open": """
        GET /filter.js
        GET /health
        GET /icon.svg
        GET /live.js
        GET /openapi.json
        GET /ready
        GET /screen.js
        GET /sign-in/openid
        GET /sign-in/openid/callback
        GET /stream.js
        GET /style.css
        GET /terminal.css
        GET /tests.js
        """,
        "attempt": """
        POST /api/v1/attempts/secrets
        """,
        "read": """
        GET /
        GET /api/v1/bots
        GET /api/v1/bots/{bot}
        GET /api/v1/bots/{bot}/integrations
        GET /api/v1/bots/{bot}/integrations/{number}
        GET /api/v1/bots/{bot}/integrations/{number}/artifacts
        GET /api/v1/bots/{bot}/integrations/{number}/artifacts/{job}/{file}
        GET /api/v1/bots/{bot}/integrations/{number}/coverage
        GET /api/v1/bots/{bot}/integrations/{number}/coverage/{configuration}
        GET /api/v1/bots/{bot}/integrations/{number}/issues
        GET /api/v1/bots/{bot}/integrations/{number}/issues.sarif
        GET /api/v1/bots/{bot}/integrations/{number}/log/{configuration}
        GET /api/v1/bots/{bot}/integrations/{number}/log/{configuration}/events
        GET /api/v1/bots/{bot}/integrations/{number}/log/{configuration}/search
        GET /api/v1/bots/{bot}/integrations/{number}/tests
        GET /api/v1/bots/{bot}/integrations/{number}/tests.xml
        GET /api/v1/bots/{bot}/integrations/{number}/tests/grid
        GET /api/v1/bots/{bot}/integrations/{number}/triggers
        GET /api/v1/bots/{bot}/plan
        GET /api/v1/bots/{bot}/pull-requests
        GET /api/v1/bots/{bot}/silences
        GET /api/v1/bots/{bot}/tests
        GET /api/v1/bots/{bot}/tests/flaky
        GET /api/v1/bots/{bot}/tests/history
        GET /api/v1/deliveries
        GET /api/v1/events
        GET /api/v1/integrations
        GET /api/v1/pauses
        GET /api/v1/queue
        GET /api/v1/ref-updates
        GET /badge/{file}
        GET /bots/{bot}
        GET /bots/{bot}/feed.atom
        GET /bots/{bot}/feed.json
        GET /bots/{bot}/silences
        GET /bots/{bot}/tests
        GET /bots/{bot}/trend.csv
        GET /bots/{bot}/tests/history
        GET /bots/{bot}/{number}
        GET /bots/{bot}/{number}/issues
        GET /bots/{bot}/{number}/log/{configuration}
        GET /bots/{bot}/{number}/tests
        GET /cctray.xml
        GET /deliveries
        GET /docs
        GET /docs/{page}
        GET /live/events
        GET /metrics
        GET /queue
        GET /screen
        """,
        "product": """
        GET /api/v1/products
        GET /api/v1/products/{product}/versions
        GET /api/v1/products/{product}/versions/{version}
        GET /files
        GET /files/
        GET /files/ALLOWED_SIGNERS
        GET /files/{product}
        GET /files/{product}/
        GET /files/{product}/{version}
        GET /files/{product}/{version}/
        GET /files/{product}/{version}/{file}
        GET /products
        GET /products/{product}
        GET /products/{product}/feed.atom
        GET /products/{product}/feed.json
        GET /products/{product}/{version}
        GET /registry/availability
        GET /registry/identifiers
        GET /registry/{scope}/{name}
        GET /registry/{scope}/{name}/{version}
        GET /registry/{scope}/{name}/{version}/Package.swift
        """,
        "viewer": """
        GET /api/v1/bots/{bot}/resolved
        GET /api/v1/conditions
        GET /api/v1/files/damaged
        GET /api/v1/outbox
        GET /outbox
        POST /registry/login
        GET /sessions
        """,
        "operator": """
        POST /api/v1/bots/{bot}/clean
        POST /api/v1/bots/{bot}/integrations
        POST /api/v1/bots/{bot}/integrations/{number}/cancel
        POST /api/v1/bots/{bot}/integrations/{number}/issues/{fingerprint}/silence
        POST /api/v1/bots/{bot}/integrations/{number}/issues/{fingerprint}/unsilence
        POST /api/v1/bots/{bot}/integrations/{number}/rerun
        POST /api/v1/bots/{bot}/pull-requests/{number}/approve
        GET /api/v1/bots/{bot}/webhook
        GET /api/v1/disk
        POST /api/v1/drain
        POST /api/v1/outbox/{number}/retry
        POST /api/v1/pause
        POST /api/v1/products/{product}/versions/{version}/yank
        POST /api/v1/prune
        POST /api/v1/reruns
        POST /api/v1/resume
        """,
        "admin": """
        GET /api/v1/audit
        GET /audit
        POST /api/v1/bots/{bot}/delete
        POST /api/v1/bots/{bot}/rename
        GET /api/v1/sessions
        DELETE /api/v1/sessions/{number}
        GET /api/v1/secrets
        GET /api/v1/tokens
        POST /api/v1/tokens
        DELETE /api/v1/tokens/{name}
        """,
        "local": """
        POST /api/v1/secrets/{name}/changed
        """,
        "sign-in": """
        GET /sign-in
        POST /sign-in
        """,
        "form of viewer": """
        POST /sessions/{number}/end
        POST /sign-out
        """,
        "form of operator": """
        POST /bots/{bot}/integrate
        POST /bots/{bot}/integrations/{number}/cancel
        POST /bots/{bot}/integrations/{number}/issues/{fingerprint}/mute
        POST /bots/{bot}/integrations/{number}/issues/{fingerprint}/unmute
        POST /bots/{bot}/integrations/{number}/rerun
        POST /bots/{bot}/pull-requests/{number}/approve
        POST /bots/{bot}/pause
        POST /bots/{bot}/resume
        POST /outbox/{number}/retry
        POST /pause
        POST /resume
        POST /products/{product}/{version}/yank
        """,
        "signature": """
        POST /webhooks/push/{bot}
        POST /webhooks/{forge}
        POST /webhooks/{forge}/{bot}
        """,
    ]

    /// Returns a path that fits a route. The objects in it do not exist, so an allowed request ends with 404 or the like.
    static func path(of route: Route) -> String {
        route.pattern.description.replacing("{number}", with: "7").replacing("{version}", with: "9.9.9")
            .replacing("{file...}", with: "x").replacing("{file}", with: "x.svg")
            .split(separator: "/", omittingEmptySubsequences: false)
            .map { $0.hasPrefix("{") ? "nobody" : String($0) }.joined(separator: "/")
    }

    private static func line(_ route: Route) -> String {
        "\(route.method.rawValue) \(route.pattern.description.replacing("...}", with: "}"))"
    }

    /// The rules by route.
    private static var accesses: [String: String] {
        Dictionary(
            rules.flatMap { access, lines in lines.split(separator: "\n").map { (String($0), access) } }
        ) { "\($0) and \($1)" }
    }

    @Test(.proves(.web, "Tokens and roles: every route × none, viewer, operator, admin (A2)"))
    func testA2ThatEveryRouteHasARuleAndEveryRuleARoute() async throws {
        try await withWeb { web in
            let rules = Self.accesses
            for route in web.table.routes {
                #expect(rules[Self.line(route)] == route.access.description, "\(Self.line(route))")
            }
            let routes = Set(web.table.routes.map(Self.line))
            #expect(Set(rules.keys).subtracting(routes) == [], "rules without a route")
        }
    }

    /// Returns the refusal of a rule; `nil` if it permits the caller. Sessions are in `SessionRoleTests`.
    private static func refusal(_ access: String, _ role: Role?, anonymousMayRead: Bool) -> Int? {
        // A form needs a session. A token is none.
        if access.hasPrefix("form of") { return 401 }
        return switch (access, role) {
        case ("open", _), ("sign-in", _), ("attempt", _), ("signature", _): nil
        case ("read", nil), ("product", nil): anonymousMayRead ? nil : 401
        case ("read", _), ("product", _): nil
        case (_, nil): 401
        // These ask over TCP.
        case ("local", _): 403
        case ("viewer", _): nil
        case ("operator", let role?): role == .viewer ? 403 : nil
        case (_, let role?): role == .admin ? nil : 403
        }
    }

    @Test(
        .proves(.intake, "A user starts an integration by the API"),
        .proves(.web, "Tokens and roles: every route × none, viewer, operator, admin (A2)"),
        .proves(.web, "Pages work without JavaScript and have no inline script or style"),
        .proves(.badInput, "A token without the right is refused"), arguments: [true, false])
    func testA2ThatEachRoleGetsWhatItsRuleSays(anonymousMayRead: Bool) async throws {
        try await withWeb(anonymousMayRead: anonymousMayRead) { web in
            let rules = Self.accesses
            let callers: [Role?] = [nil, .viewer, .operator, .admin]
            var asked = 0
            for route in web.table.routes where !["/api/v1/events", "/live/events"].contains(route.pattern.description)
            {
                let rule = try #require(rules[Self.line(route)])
                for role in callers {
                    let answer = try await web.send(route.method.rawValue, Self.path(of: route), as: role)
                    if rule == "sign-in", route.method != .get {
                        #expect(answer.status == 401, "the form has no token")
                        asked += 1
                        continue
                    }
                    let who = "\(Self.line(route)) by \(role?.rawValue ?? "nobody"): \(answer.text.prefix(200))"
                    if let refusal = Self.refusal(rule, role, anonymousMayRead: anonymousMayRead) {
                        #expect(answer.status == refusal, "\(who)")
                    } else if rule != "signature" {
                        #expect(![401, 403].contains(answer.status), "\(who)")
                    }
                    #expect(answer.status != 500, "\(who)")
                    #expect(answer["Set-Cookie"] == nil, "\(who)")
                    asked += 1
                }
            }
            #expect(asked == (web.table.routes.count - 2) * callers.count)
        }
    }

    /// A token does not replace a signature.
    @Test func testA2ThatNoTokenSignsAWebhook() async throws {
        try await withWeb { web in
            for route in web.table.routes where route.access == .signature {
                try await web.expect(401, "POST", Self.path(of: route).replacing("nobody", with: "github"), as: .admin)
            }
        }
    }
}
