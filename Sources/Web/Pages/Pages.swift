import HTTPTypes
import Hummingbird
import Integrations
import Model
import Storage

/// The HTML pages. They are rendered on the server and readable without a script.
struct Pages: Sendable {
    let site: Site
    let logs: LogServer

    var routes: [Route] {
        [
            Route(.get, "/", .read, "Page: all bots; ?q= (a part of a name) ?state= (red, running or waiting).") {
                try await bots($0)
            }.reaching(.listing),
            Route(.get, "/bots/{bot}", .read, "Page: a bot's integrations; ?branch= ?before=.") { try await bot($0) },
            // These must come before the route that has a number in this place.
            Route(.get, "/bots/{bot}/trend.csv", .read, "The values of a bot's plots as CSV; ?branch=.") {
                try await trendTable($0)
            },
            Route(.get, "/bots/{bot}/tests", .read, "Page: a bot's tests; ?query= ?after=.") { try await tests($0) },
            Route(
                .get, "/bots/{bot}/tests/history", .read, "Page: one test's life; ?name=SUITE/NAME ?branch= ?before=."
            ) {
                try await testHistory($0)
            },
            Route(.get, "/bots/{bot}/silences", .read, "Page: what is muted in a bot; ?after=.") {
                try await silences($0)
            },
            Route(.get, "/bots/{bot}/{number}/tests", .read, "Page: tests; ?query= ?failing ?slowest ?after=.") {
                try await testTree($0)
            },
            Route(.get, "/bots/{bot}/{number}/issues", .read, "Page: an integration's issues; ?after=.") {
                try await issues($0)
            },
            Route(.get, "/bots/{bot}/{number}", .read, "Page: an integration; ?failing.") { try await integration($0) },
            Route(.get, "/bots/{bot}/{number}/log/{configuration}", .read, "Page: a log; ?line= ?q= ?from= ?attempt=.")
            {
                try await log($0)
            },
            Route(.get, "/queue", .read, "Page: what runs and what waits.") { try await queue($0) }
                .reaching(.listing),
            Route(.get, "/screen", .read, "Page: the big screen; ?bots= (names with commas) ?cycle= (seconds).") {
                try await screen($0)
            }.reaching(.listing),
            LiveStream(logs: logs).route.reaching(.listing),
            Route(.get, "/products", .product, "Page: products.") { try await products($0) }.reaching(.listing),
            Route(.get, "/products/{product}", .product, "Page: a product's versions.") { try await product($0) },
            Route(.get, "/products/{product}/{version}", .product, "Page: a version, or a range's highest.") {
                try await version($0)
            },
            Route(.get, "/deliveries", .read, "Page: what came in.") { try await deliveries($0) },
            Route(.get, "/outbox", .role(.viewer), "Page: what is told outside; ?state= ?before=.") {
                try await outbox($0)
            }.reaching(.listing),
            Route(.get, "/docs", .read, "Page: the documentation's contents; ?q= searches it.") { try await docs($0) }
                .reaching(.nothing),
            Route(.get, "/docs/{page...}", .read, "Page: one page of the documentation.") { try await doc($0) }
                .reaching(.nothing),
            Route(.get, "/audit", .role(.admin), "Page: who did what; ?bot= ?action= ?actor=.") { try await audit($0) },
            Route(.get, "/sessions", .role(.viewer), "Page: who is signed in.") { try await sessions($0) }.reaching(
                .nothing),
            asset("/style.css", Templates.styleSheet, "text/css; charset=utf-8"),
            asset("/terminal.css", TerminalPalette.styleSheet, "text/css; charset=utf-8"),
            asset("/live.js", Templates.script, "text/javascript; charset=utf-8"),
            asset("/tests.js", Templates.testScript, "text/javascript; charset=utf-8"),
            asset("/filter.js", PackageResources.filter_js, "text/javascript; charset=utf-8"),
            asset("/screen.js", PackageResources.screen_js, "text/javascript; charset=utf-8"),
            asset(
                "/stream.js", Templates.worker, "text/javascript; charset=utf-8", policy: SecurityHeaders.workerPolicy),
            asset("/icon.svg", PackageResources.icon_svg, "image/svg+xml"),
        ].costing(.page)
    }

    private func asset(_ path: String, _ bytes: [UInt8], _ type: String, policy: String? = nil) -> Route {
        // If there is no memory now, it is sent as it is.
        let compressed = try? GzipStream.compress(bytes)
        return Route(.get, path, .open, "Part of the pages.") { call in
            var whole = Response.body(bytes, type: type)
            if let policy { whole.headers[.contentSecurityPolicy] = policy }
            var response = whole
            if let compressed {
                response = whole.coded(for: call) { _ in ResponseBody(byteBuffer: ByteBuffer(bytes: compressed)) }
            }
            // Pages link to it with the first digits of its digest as the query.
            response.headers[.cacheControl] = "public, max-age=86400"
            return response
        }
    }

    /// Renders a page around its own content.
    /// - Parameters:
    ///   - template: The name of the content's template.
    ///   - section: The current entry of the navigation; empty on problem pages.
    ///   - watch: The change for which the script reloads the page: a kind, and for integrations a bot and a number.
    func page(
        _ template: String, title: String, section: String, watch: String? = nil, status: HTTPResponse.Status = .ok,
        _ content: ViewObject
    ) async throws -> Response {
        let overview = await site.operations.overview()
        var view = content
        view.merge(PageReader.ofRequest.view)
        view["title"] = .text(title)
        view["assetTag"] = .text(site.templates.assetTag)
        view["version"] = .text(overview.version)
        view["watch"] = .text(watch)
        view["isUnfenced"] = .flag(overview.isolation != .sandbox)
        // The reasons are only for users who may see the service's pages; anybody can see a problem page.
        view["unfencedReason"] = .text(section.isEmpty ? nil : overview.isolation.reason)
        view["loopbackReason"] = .text(section.isEmpty ? nil : overview.loopbackReason)
        view["diskShortage"] = .text(section.isEmpty ? nil : site.operations.diskShortage)
        // A page about an error is shown even if the database cannot be read.
        let pauses = section.isEmpty ? nil : try? await site.store.pauses()
        view["pause"] = .list(
            [pauses?.drain, pauses?.service, pauses?.publishing].compactMap(\.self).map { Self.banner(of: $0) })
        for (key, name) in [
            ("isBots", "bots"), ("isQueue", "queue"), ("isProducts", "products"), ("isDeliveries", "deliveries"),
            ("isDocs", "docs"),
        ] {
            view[key] = .flag(section == name)
        }
        // No page is rendered for a client that has left.
        try Task.checkCancellation()
        let text = try site.templates.render(template, view)
        return .html(HTMLText.rebased(text, on: site.configuration.base), status: status)
    }

    /// Returns the banner about a pause of the whole service.
    private static func banner(of pause: Pause) -> ViewObject {
        let effect =
            switch pause.scope {
            case .drain: "No integration starts until the machine has restarted. Events are stored."
            case .publishing: "Nothing is published or uploaded until an operator runs martlet resume --publishing."
            case .service, .bot: "No integration starts. Events are stored."
            }
        return [
            "pauseWord": .text(pause.scope == .drain ? "Drained" : pause.scope == .publishing ? "Held" : "Paused"),
            "effect": .text(effect), "by": .text(pause.person), "pauseReason": .text(pause.reason),
            "pauseTime": .text(pause.at), "pauseSince": .text(PageText.time(pause.at)),
        ]
    }

    /// Renders a problem as a page. Users without the right to read see it, so it says nothing about the content of the service.
    func problem(_ problem: Problem) async -> Response {
        let isWithoutSession = !PageReader.ofRequest.maySignIn
        let detail =
            switch (problem.status, isWithoutSession) {
            // Describes the browser's login dialog, which follows where a session is impossible.
            case (401, true):
                "This needs a token. Where the browser asks for a name and a password: any name, and the token as the password. "
                    + "“martlet token create NAME --role viewer” makes one."
            case (401, false) where problem.detail == Problem.needsToken.detail:
                "This page is not open to everybody. Sign in, and you come back to it."
            default: problem.detail
            }
        let view: ViewObject = [
            "heading": .text(problem.status == 401 && !isWithoutSession ? "Sign in to see this" : problem.title),
            "detail": .text(detail), "offersSignIn": .flag(problem.status == 401),
        ]
        do {
            var response = try await page(
                "problem", title: problem.title, section: "", status: .init(code: problem.status), view)
            if let allow = problem.allow { response.headers[.allow] = allow }
            return response
        } catch {
            return problem.response
        }
    }

    // MARK: Parts that several pages show

    /// Returns a row of a listing.
    func row(_ record: IntegrationOutline) -> ViewObject {
        let now = site.clock()
        let counts = record.summary.map { Self.issueCounts($0) } ?? []
        return [
            "id": .text("#\(record.id.number)"), "number": .text(record.id.number),
            "href": .text("/bots/\(record.id.bot)/\(record.id.number)"),
            "result": .list([ResultView(record.state, isSkipped: record.isSkipped).view]),
            "subject": .text(Self.subject(record.subject)),
            "ref": .text(record.ref.shortName), "commit": .text(record.commit.abbreviated),
            "author": .text(record.author), "tests": .text(Self.testCount(record.summary)), "counts": .list(counts),
            "noCounts": .text(record.summary == nil ? "" : "none"),
            "took": .text(took(record.startedAt, record.endedAt) ?? ""),
            "queued": .text(record.queuedAt), "when": .text(PageText.age(record.queuedAt, now: now)),
        ]
    }

    /// Returns the commit's subject, or a note that it is empty.
    static func subject(_ subject: String?) -> String {
        subject.map { $0.isEmpty ? "(no message)" : $0 } ?? ""
    }

    /// Returns the duration of an integration; `nil` if it has not begun.
    /// - Parameters:
    ///   - start: When the integration began; `nil` if it has not.
    ///   - end: When it ended; `nil` if it has not.
    func took(_ start: Timestamp?, _ end: Timestamp?) -> String? {
        guard let start else { return nil }
        let duration = PageText.duration((end ?? site.clock()) - start)
        return end == nil ? duration + " so far" : duration
    }

    static func testCount(_ summary: Summary?) -> String {
        guard let summary else { return "" }
        // A dash instead of `0 tests`: usually tests ran, but no report listed them.
        return summary.testSentence ?? "–"
    }

    private static func issueCounts(_ summary: Summary) -> [ViewObject] {
        let counts = summary.counts
        return [
            (counts.errors, "error", "bad"), (counts.warnings, "warning", "warn"),
            (counts.analyzerWarnings, "analyzer warning", "warn"), (summary.failingTestCount, "failing test", "bad"),
        ].filter { $0.0 > 0 }.map { ["text": .text(PageText.count($0.0, $0.1)), "tone": .text($0.2)] }
    }
}
