import Integrations
import Model
import Settings
import Storage
import TestSupport
import Testing
import Transfer

@testable import Web

/// What people with a role on some bots see and do. Every route is in `A02ScopeTests`.
@Suite struct LimitedRoleTests {
    // MARK: Tokens

    private func make(_ web: WebFixture, _ body: String) async throws -> RawAnswer {
        try await web.send(
            "POST", "/api/v1/tokens", as: .admin, headers: [("Content-Type", "application/json")],
            body: Array(body.utf8))
    }

    @Test(.proves(.web, "A role is limited to bots, by name or pattern"))
    func testThatATokenIsMadeAndListedWithItsBots() async throws {
        try await withWeb { web in
            // when
            let made = try await make(web, #"{"name":"team","role":"operator","bots":["kit","tools-*"]}"#)
            _ = try await make(web, #"{"name":"whole","role":"viewer","bots":null}"#)
            // then
            #expect(made.status == 201)
            expectContains(made.text, #""role":"operator","bots":["kit","tools-*"],"secret":"mt_"#)
            let list = try await web.json("/api/v1/tokens", as: .admin)
            expectContains(list, #""name":"team","role":"operator","bots":["kit","tools-*"]"#)
            expectContains(list, #""name":"whole","role":"viewer","bots":null"#)
            let audit = try await web.json("/api/v1/audit?action=token-created", as: .admin)
            expectContains(audit, "operator on kit, tools-*")
        }
    }

    @Test(.proves(.badInput, "A list of bots that is empty, too long or not of names is refused with a sentence"))
    func testThatABadListOfBotsIsRefused() async throws {
        try await withWeb { web in
            let many = Array(repeating: "\"kit\"", count: 65).joined(separator: ",")
            for (bots, reason) in [
                ("[]", "it is empty"), ("[\"\"]", "a name in it is empty"), ("[\"[ab]\"]", "a bot's name has"),
                ("[\"Kit\"]", "a bot's name has"), ("[\(many)]", "more than 64"),
                ("[\"\(String(repeating: "a", count: 65))\"]", "is longer than 64 characters"), ("\"kit\"", "bots"),
                ("[1]", "bots"),
            ] {
                let answer = try await make(web, #"{"name":"team","role":"viewer","bots":\#(bots)}"#)
                #expect(answer.status == 400, "\(bots)")
                expectContains(answer.text, reason)
            }
            #expect(try await web.store.tokens().count == 3)
        }
    }

    @Test(.proves(.web, "A role is limited to bots, by name or pattern"))
    func testThatTheCommandMakesAndListsLimitedTokens() async throws {
        try await withWeb { web in
            // when
            let made = try await martlet(
                ["token", "create", "team", "--role", "operator", "--bots", "kit,tools-*"], web)
            let bad = try await martlet(["token", "create", "other", "--role", "viewer", "--bots", "kit,,a"], web)
            // then
            #expect(made.stdout.hasPrefix("mt_"), "\(made)")
            expectContains(bad.stderr, "a name in it is empty")
            let listed = try await martlet(["token", "list"], web).stdout
            expectContains(listed, "operator  kit, tools-*")
            expectContains(listed, "viewer    all")
        }
    }

    // MARK: Listings

    @Test(.proves(.web, "Listings show a limited role its own bots alone"))
    func testThatListingsShowTheOwnBots() async throws {
        try await withWeb(anonymousMayRead: false) { web in
            // given
            try await TwoTeams(web: web).fill()
            let team = try await web.token(.operator, on: "hidden-*")
            for path in [
                "/api/v1/bots", "/api/v1/integrations", "/api/v1/queue", "/api/v1/pauses", "/api/v1/outbox",
                "/api/v1/products", "/cctray.xml", "/files/", "/", "/queue", "/screen", "/products", "/outbox",
                "/bots/hidden-bot", "/bots/hidden-bot/feed.atom", "/badge/hidden-bot.svg", "/products/hidden-bot",
                "/products/hidden-bot/feed.json", "/files/hidden-bot/1.0.0/", "/api/v1/bots/hidden-bot/integrations/1",
            ] {
                // when
                let answer = try await web.send("GET", path, with: team)
                // then
                #expect(answer.status == 200, "\(path): \(answer.text.prefix(200))")
                expectContains(answer.text, "hidden-bot")
                expectLacks(answer.text, "bots/kit")
                expectLacks(answer.text, "\"kit\"")
            }
        }
    }

    @Test(.proves(.web, "What anybody may read, a limited role reads as well"))
    func testThatALimitedRoleReadsWhatAnybodyReads() async throws {
        try await withWeb(anonymousMayRead: true) { web in
            // given
            try await TwoTeams(web: web).fill()
            let team = try await web.token(.operator, on: "kit")
            // then
            for path in ["/api/v1/bots", "/bots/hidden-bot", "/metrics", "/api/v1/deliveries", "/products/hidden-bot"] {
                let answer = try await web.send("GET", path, with: team)
                #expect(answer.status == 200, "\(path)")
                #expect(try await web.send("GET", path).text == answer.text || path == "/metrics", "\(path)")
            }
            // Addresses of others are for roles alone.
            expectLacks(try await web.send("GET", "/api/v1/outbox", with: team).text, "hidden-bot")
            #expect(try await web.send("GET", "/api/v1/bots/hidden-bot/resolved", with: team).status == 403)
        }
    }

    // MARK: Products

    @Test(.proves(.web, "A product needs the role on every bot that makes it"))
    func testThatAProductNeedsTheRoleOnEachOfItsBots() async throws {
        try await withWeb(anonymousMayRead: false) { web in
            // given
            try await TwoTeams(web: web).fill()
            let record = try #require(
                try await web.store.integration(IntegrationID(bot: TwoTeams.other, number: 1)))
            try await SampleContent(web: web).publish("2.0.0", by: record)
            // then `kit` is made by both bots
            for (bots, status) in [(["kit"], 403), (["hidden-bot"], 403), (["kit", "hidden-*"], 200)] {
                let token = BearerToken.random()
                try await web.store.createToken(
                    name: "t\(bots.count)\(bots[0])", role: .operator, bots: BotScope(bots), hash: token.hash,
                    at: WebFixture.now)
                let yank = "/api/v1/products/kit/versions/2.0.0/yank"
                #expect(try await web.send("GET", "/products/kit/1.0.0", with: token).status == status, "\(bots)")
                #expect(try await web.send("POST", yank, with: token).status == status, "\(bots)")
                let listed = try await web.send("GET", "/api/v1/products", with: token).text
                #expect(listed.contains("\"kit\"") == (status == 200), "\(bots)")
            }
        }
    }

    // MARK: Changes

    @Test(.proves(.web, "A limited role changes its own bots alone"))
    func testThatAPauseIsOfAnOwnBot() async throws {
        try await withWeb { web in
            // given
            try await TwoTeams(web: web).fill()
            let team = try await web.token(.operator, on: "kit")
            for (path, body, status) in [
                ("pause", #"{"bot":"kit"}"#, 200), ("resume", #"{"bot":"kit"}"#, 200),
                ("pause", #"{"bot":"hidden-bot"}"#, 403), ("resume", #"{"bot":"hidden-bot"}"#, 403),
                ("pause", "{}", 403), ("resume", "{}", 403), ("drain", "{}", 403), ("prune", #"{"bot":"kit"}"#, 403),
                ("resume", #"{"bot":"kit","publishing":true}"#, 403),
                ("reruns", #"{"since":"2026-01-01T00:00:00Z","bot":"kit"}"#, 200),
                ("reruns", #"{"since":"2026-01-01T00:00:00Z","bot":"hidden-bot"}"#, 403),
                ("reruns", #"{"since":"2026-01-01T00:00:00Z"}"#, 403),
                ("bots/hidden-bot/integrations", "{}", 403), ("bots/kit/rename", #"{"name":"kit2"}"#, 403),
            ] {
                // when
                let answer = try await web.send("POST", "/api/v1/\(path)", with: team, json: body)
                // then
                #expect(answer.status == status, "\(path) \(body): \(answer.text)")
                expectLacks(answer.text, "hidden-bot moves")
            }
            #expect(try await web.store.pauses().bots.keys.sorted() == [TwoTeams.other])
        }
    }

    @Test(.proves(.web, "A limited role changes its own bots alone"))
    func testThatABotIsNotGivenAnotherTeamsName() async throws {
        try await withWeb { web in
            let team = try await web.token(.admin, on: "kit", "tools-*")
            for (name, status) in [("hidden-bot", 403), ("tools-kit", 404)] {
                let answer = try await web.send(
                    "POST", "/api/v1/bots/kit/rename", with: team, json: #"{"name":"\#(name)"}"#)
                #expect(answer.status == status, "\(answer.text)")
            }
        }
    }

    @Test(.proves(.web, "A limited role changes its own bots alone"))
    func testThatAMessageOfAnotherBotIsNotFound() async throws {
        try await withWeb { web in
            // given
            try await TwoTeams(web: web).fill()
            let message = try #require(try await web.store.outbox().items.first)
            let retry = "/api/v1/outbox/\(message.id)/retry"
            // then
            let refused = try await web.send("POST", retry, with: try await web.token(.admin, on: "kit"))
            #expect(refused.status == 404)
            #expect(
                try await web.send("POST", retry, with: try await web.token(.viewer, on: "hidden-bot")).status == 403)
            // It waits, so there is nothing to try again.
            #expect(
                try await web.send("POST", retry, with: try await web.token(.operator, on: "hidden-bot")).status == 409)
        }
    }

    // MARK: Sessions

    @Test(.proves(.web, "A session has the rights of its token, and ends with it"))
    func testThatASessionHasTheRightsOfItsToken() async throws {
        try await withWeb(anonymousMayRead: false) { web in
            // given
            try await TwoTeams(web: web).fill()
            let browser = try await WebBrowser.signedIn(web, with: try await web.token(.operator, on: "kit"))
            // then
            let page = try await browser.get("/bots/kit").text
            expectContains(page, "<span class=\"quiet\">operator on kit</span>")
            expectContains(page, "action=\"/bots/kit/integrate\"")
            #expect(try await browser.get("/bots/hidden-bot").status == 403)
            expectLacks(try await browser.get("/queue").text, "action=\"/pause\"")
            expectContains(try await browser.act("/bots/kit/pause", ["reason": "a test"]), "kit is paused")
            let sessions = try await web.json("/api/v1/sessions", as: .admin)
            expectContains(sessions, #""role":null,"#)
            expectContains(sessions, #""limited":[{"role":"operator","bots":["kit"]}]"#)
            expectContains(try await martlet(["token", "list"], web).stdout, "operator on kit")
            // when
            let name = try #require(try await web.store.tokens().first { $0.bots != nil }).name
            try await web.expect(204, "DELETE", "/api/v1/tokens/\(name)", as: .admin)
            // then
            #expect(try await browser.get("/bots/kit").status == 401)
        }
    }

    @Test(.proves(.web, "A person who matches several rules has each role on the bots of its rule"))
    func testThatAProxysPersonHasEachRoleOnItsBots() async throws {
        let rules = RoleRules([
            .init(.viewer, ["*"], on: BotScope(["kit"])), .init(.operator, ["ann"], on: BotScope(["hidden-*"])),
        ])
        let settings = SignInSettings(
            header: HeaderSettings(name: "X-Remote-User", from: ["127.0.0.1"], roles: rules))
        try await withWeb(anonymousMayRead: false, signIn: settings) { web in
            // given
            try await TwoTeams(web: web).fill()
            func page(_ path: String, _ name: String) async throws -> RawAnswer {
                try await web.send("GET", path, headers: [("X-Remote-User", name), ("Accept", "text/html")])
            }
            // then
            expectContains(try await page("/", "ann").text, "viewer on kit; operator on hidden-*")
            expectContains(try await page("/bots/hidden-bot", "ann").text, "action=\"/bots/hidden-bot/integrate\"")
            expectLacks(try await page("/bots/kit", "ann").text, "action=\"/bots/kit/integrate\"")
            #expect(try await page("/bots/kit", "ann").status == 200)
            #expect(try await page("/bots/hidden-bot", "bob").status == 403)
            expectLacks(try await page("/", "bob").text, "hidden-bot")
        }
    }

    // MARK: Former names and events

    @Test func testThatAFormerNameLeadsOnlyToABotThatMayBeRead() async throws {
        try await withWeb(anonymousMayRead: false) { web in
            // given a bot that was renamed
            let (old, new) = (try #require(Name("kit")), try #require(Name("core")))
            try await web.store.register(
                [BotSpecification(name: old, repository: SampleContent.repository)], at: WebFixture.now)
            try await web.store.register([], at: WebFixture.now)
            try await web.operations.care.rename(old, to: new, by: "ann")
            // then
            let narrow = try await web.send("GET", "/bots/kit", with: try await web.token(.viewer, on: "kit"))
            #expect(narrow.status == 404)
            expectLacks("\(narrow.headers)", "core")
            let wide = try await web.send("GET", "/bots/kit", with: try await web.token(.viewer, on: "kit", "core"))
            #expect(wide.status == 307)
        }
    }

    @Test(
        .proves(.web, "A limited role gets the events of its own bots' integrations alone"),
        arguments: ["/api/v1/events", "/live/events?log=hidden-bot/1/debug/1"])
    func testThatAStreamIsOfTheOwnBots(_ path: String) async throws {
        try await withWeb(anonymousMayRead: false) { web in
            // given
            try await TwoTeams(web: web).fill()
            let token = try await web.token(.viewer, on: "kit")
            var request = TransferRequest(.get, "http://127.0.0.1:\(web.port)\(path)")
            request.isPlainHTTPAllowed = true
            request.headers["Authorization"] = "Bearer \(token.secret)"
            // The stream ends with its transport.
            let transport = try CurlTransport()
            defer { withExtendedLifetime(transport) {} }
            let stream = try await transport.stream(request)
            var text = ""
            var iterator = stream.body.makeAsyncIterator()
            while !text.contains("retry: 3000"), let bytes = try await iterator.next() {
                text += String(decoding: bytes, as: UTF8.self)
            }
            // when
            for bot in [TwoTeams.other, SampleContent.kit] {
                let ref = RefName(branch: "other")
                let new = NewIntegration(bot: bot, ref: ref, commit: SampleContent.commits[1], cause: .person)
                _ = try await web.store.queue(new, at: WebFixture.now)
            }
            // then
            while !text.contains("\"bot\":\"kit\""), let bytes = try await iterator.next() {
                text += String(decoding: bytes, as: UTF8.self)
            }
            expectContains(text, "event: integration")
            expectLacks(text, "hidden-bot")
        }
    }

    @Test(.proves(.web, "A limited role gets the events of its own bots' integrations alone"))
    func testThatEventsAreOfTheOwnBots() throws {
        // given
        let history = EventHistory()
        let scope = try #require(BotScope(["kit"]))
        let reader = history.reader(from: nil, of: scope)
        let whole = history.reader(from: nil)
        let other = IntegrationID(bot: TwoTeams.other, number: 7)
        // when
        history.record(.integration(other))
        history.record(.queued(other))
        history.record(.version(product: TwoTeams.other))
        history.record(.integration(IntegrationID(bot: SampleContent.kit, number: 3)))
        // then
        let text = reader.next()
        expectContains(text, #""bot":"kit","number":3"#)
        expectLacks(text, "hidden-bot")
        #expect(text.pieces("event: ").count == 2)
        #expect(whole.next().pieces("event: ").count == 5)
        #expect(reader.id == whole.id)
    }
}
