import HTTPTypes
import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// What a caller gets whose role is limited to bots, on every route. A new route that names neither a bot nor a product is entered by hand, after
/// deciding what such a caller gets.
@Suite struct A02ScopeTests {
    private static let rules: [Reach: String] = [
        // Each of these shows only the caller's bots.
        .listing: """
        GET /
        GET /api/v1/bots
        GET /api/v1/events
        GET /api/v1/integrations
        GET /api/v1/outbox
        GET /api/v1/pauses
        GET /api/v1/products
        GET /api/v1/queue
        GET /cctray.xml
        GET /files/
        GET /live/events
        GET /outbox
        GET /products
        GET /queue
        GET /registry/identifiers
        GET /screen
        """,
        // Each of these names a bot in the body, or something that belongs to one.
        .found: """
        GET /badge/{file}
        POST /api/v1/outbox/{number}/retry
        POST /api/v1/pause
        POST /api/v1/reruns
        POST /api/v1/resume
        POST /outbox/{number}/retry
        """,
        .nothing: """
        GET /docs
        GET /docs/{page...}
        GET /files
        GET /files/ALLOWED_SIGNERS
        GET /registry/availability
        GET /sessions
        POST /registry/login
        POST /sessions/{number}/end
        POST /sign-out
        """,
        .service: """
        DELETE /api/v1/sessions/{number}
        DELETE /api/v1/tokens/{name}
        GET /api/v1/audit
        GET /api/v1/conditions
        GET /api/v1/deliveries
        GET /api/v1/disk
        GET /api/v1/files/damaged
        GET /api/v1/ref-updates
        GET /api/v1/secrets
        GET /api/v1/sessions
        GET /api/v1/tokens
        GET /audit
        GET /deliveries
        GET /metrics
        POST /api/v1/drain
        POST /api/v1/prune
        POST /api/v1/secrets/{name}/changed
        POST /api/v1/tokens
        POST /pause
        POST /resume
        """,
    ]

    private static func line(_ route: Route) -> String { "\(route.method.rawValue) \(route.pattern.description)" }

    @Test(.proves(.web, "Every route × a role that is limited to bots (A2)"))
    func testA2ThatEveryRouteWithoutABotSaysWhatALimitedRoleGets() async throws {
        try await withWeb { web in
            let rules = Dictionary(
                Self.rules.flatMap { reach, lines in lines.split(separator: "\n").map { (String($0), reach) } }
            ) { first, _ in first }
            var listed: Set<String> = []
            for route in web.table.routes where !route.access.isWithoutUser {
                let line = Self.line(route)
                let pattern = route.pattern.description
                if route.reach == .bot {
                    #expect(pattern.contains("/{bot}"), "\(line)")
                } else if route.reach == .product {
                    #expect(pattern.contains("/{product}") || pattern.contains("/{scope}/{name}"), "\(line)")
                } else {
                    #expect(rules[line] == route.reach, "\(line) is \(route.reach)")
                    listed.insert(line)
                }
            }
            #expect(Set(rules.keys).subtracting(listed) == [], "rules without a route")
        }
    }

    /// Returns the statuses with which a limited admin may be answered.
    /// - Parameter isOwn: Whether the bot and the product in the path are the caller's.
    private static func isExpected(_ status: Int, _ route: Route, isOwn: Bool, anonymousMayRead: Bool) -> Bool {
        if route.access.isWithoutUser { return true }
        // A token fills in no form.
        if case .form = route.access { return status == 401 }
        if route.access == .local { return status == 403 }
        let isOpen = anonymousMayRead && [.read, .product].contains(route.access)
        switch route.reach {
        case .bot: return isOwn || isOpen ? ![401, 403].contains(status) : status == 403
        // No bot makes the product.
        case .product, .service: return isOpen ? ![401, 403].contains(status) : status == 403
        case .listing, .nothing: return ![401, 403].contains(status)
        case .found:
            switch route.pattern.description {
            // Without a bot in the body they are about the service.
            case "/api/v1/pause", "/api/v1/resume": return status == 403
            case "/api/v1/reruns": return status == 400
            case "/badge/{file}": return isOpen ? status == 404 : status == 403
            default: return status == 404
            }
        }
    }

    @Test(
        .proves(.web, "Every route × a role that is limited to bots (A2)"),
        .proves(.badInput, "A token without the right is refused"), arguments: [true, false])
    func testA2ThatALimitedRoleGetsWhatTheRouteSays(anonymousMayRead: Bool) async throws {
        try await withWeb(anonymousMayRead: anonymousMayRead) { web in
            // given
            let own = try await web.token(.admin, on: "nobody")
            let other = try await web.token(.admin, on: "kit", "tools-*")
            for route in web.table.routes where !["/api/v1/events", "/live/events"].contains(route.pattern.description)
            {
                for (token, isOwn) in [(own, true), (other, false)] {
                    // when
                    let answer = try await web.send(route.method.rawValue, A02RoleTests.path(of: route), with: token)
                    // then
                    let what =
                        "\(Self.line(route)), \(isOwn ? "own" : "another") bot: \(answer.status) \(answer.text.prefix(200))"
                    #expect(
                        Self.isExpected(answer.status, route, isOwn: isOwn, anonymousMayRead: anonymousMayRead),
                        "\(what)")
                    #expect(answer.status != 500, "\(what)")
                    if answer.status == 403, !isOwn, route.access != .local {
                        expectContains(answer.text, "Your role is limited to the bots kit, tools-*.")
                    }
                }
            }
        }
    }

    /// The roles of a session are those of its token.
    @Test(.proves(.web, "Every route × a role that is limited to bots (A2)"))
    func testA2ThatFormsOfALimitedSessionChangeOnlyItsBots() async throws {
        try await withWeb(anonymousMayRead: false) { web in
            // given
            let browser = try await WebBrowser.signedIn(web, with: try await web.token(.operator, on: "kit"))
            let forms = web.table.routes.filter { if case .form = $0.access { true } else { false } }
            for form in forms where form.pattern.description != "/sign-out" {
                for bot in ["kit", "other"] {
                    // when
                    let path = A02RoleTests.path(of: form).replacing("/bots/nobody", with: "/bots/\(bot)")
                    let status = try await browser.post(path).status
                    // then
                    let isOwn = form.reach == .bot && bot == "kit" || [.found, .nothing].contains(form.reach)
                    #expect(status == (isOwn ? 303 : 403), "\(path)")
                }
            }
        }
    }

    @Test(.proves(.web, "Every route × a role that is limited to bots (A2)"))
    func testA2ThatNoRouteShowsAnotherBot() async throws {
        try await withWeb(anonymousMayRead: false) { web in
            // given
            try await TwoTeams(web: web).fill()
            let token = try await web.token(.admin, on: "kit")
            let browser = try await WebBrowser.signedIn(web, with: token)
            for route in web.table.routes
            where route.method == .get && route.cost != .stream && !route.access.isWithoutUser {
                let pattern = route.pattern.description
                let isNamed = [.bot, .product].contains(route.reach)
                let path = pattern.replacing("{bot}", with: "hidden-bot").replacing("{product}", with: "hidden-bot")
                    .replacing("{number}", with: "1").replacing("{version}", with: "1.0.0")
                    .replacing("{file...}", with: "kit-source.tar.gz").replacing("{file}", with: "hidden-bot.svg")
                    .replacing("{configuration}", with: "debug").replacing("{job}", with: "release")
                    .replacing("{page...}", with: "manual").replacing("{scope}", with: "acme").replacing(
                        "{name}", with: "kit")
                // when
                let answer = try await web.send("GET", path, with: token)
                let page = try await browser.get(path)
                // then
                if isNamed || route.reach == .service {
                    #expect([answer.status, page.status] == [403, 403], "\(path)")
                }
                expectLacks(answer.text, "hidden-bot")
                // A page of a problem has its own path in links.
                if !path.contains("hidden-bot") { expectLacks(page.text, "hidden-bot") }
            }
            let query = "/registry/identifiers?url=https://git.example/acme/hidden-bot.git"
            #expect(try await web.send("GET", query, with: token).status == 404)
        }
    }
}
