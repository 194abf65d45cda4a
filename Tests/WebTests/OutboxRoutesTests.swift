import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// The outbox as users see it.
@Suite struct OutboxRoutesTests {
    private static let api = "https://git.example/api/v1"

    /// Runs a test with a bot that reports, with one message that was given up and one that waits.
    private func withMessages(_ body: @Sendable (WebFixture) async throws -> Void) async throws {
        try await withWeb { web in
            let kit = try #require(Name("kit"))
            let target = StatusTarget(forge: .gitea, credentials: "kit-status", api: Self.api, project: "acme/kit")
            try await web.store.register(
                [BotSpecification(name: kit, repository: "https://git.example/acme/kit.git", status: target)],
                at: WebFixture.now)
            for digit in ["a", "b"] {
                _ = try await web.store.queue(
                    NewIntegration(
                        bot: kit, ref: RefName(branch: "main"),
                        commit: #require(CommitID(String(repeating: digit, count: 40))), cause: .person),
                    at: WebFixture.now)
            }
            let message = try #require(
                try await web.store.takeMessage(
                    for: OutboxPlace(kind: .status, name: Self.api, account: "kit-status"), at: WebFixture.now,
                    horizon: .seconds(60)))
            try await web.store.settle(
                message, as: .givenUp(reason: "it answered 401 (<no> such token)"), at: WebFixture.now)
            try await body(web)
        }
    }

    @Test(
        .proves(
            .intake,
            "The outbox on the page `/outbox`, in the interface, in the metrics and by `martlet outbox`; an operator has what was given up tried again"
        ))
    func testThatTheyAreListedWithWhatBecameOfThem() async throws {
        try await withMessages { web in
            // when
            let json = try await web.json("/api/v1/outbox", as: .viewer)
            let failed = try await web.json("/api/v1/outbox?state=given-up", as: .viewer)
            let page = try await web.send("GET", "/outbox", as: .viewer).text
            let listed = try await martlet(["outbox"], web)
            // then
            expectContains(
                json, #""id":2,"kind":"status","destination":"\#(Self.api)","bot":"kit","integration":"kit#2""#)
            expectContains(json, #""about":"queued""#)
            #expect(!failed.contains("kit#2"))
            expectContains(failed, #""state":"given-up","tries":1,"next":null,"note":"it answered 401"#)
            expectContains(page, "it answered 401 (&lt;no&gt; such token)")
            expectContains(page, #"<a href="/bots/kit/2">kit#2</a> queued"#)
            expectContains(page, #"given-up</a> <span class="count bad">1</span>"#)
            expectContains(listed.stdout, "2  waiting  kit#2 queued  status \(Self.api)\n")
            expectContains(listed.stdout, "1  given-up  kit#1 queued  status \(Self.api)\n    it answered 401")
            expectContains(try await web.json("/metrics"), "martlet_outbox_messages{state=\"given-up\"} 1\n")
            expectContains(try await web.send("GET", "/deliveries").text, #"<a href="/outbox">outbox</a>"#)
        }
    }

    @Test func testThatABrowserIsToldWhatToEnter() async throws {
        try await withMessages { web in
            let answer = try await web.send("GET", "/outbox", headers: [("Accept", "text/html")])
            #expect(answer.status == 401)
            expectContains(answer.text, "<h1>Sign in to see this</h1>")
            expectContains(answer.text, "href=\"/sign-in?next=%2Foutbox\"")
            expectContains(answer.text, "This page is not open to everybody. Sign in, and you come back to it.")
            let deliveries = try await web.send("GET", "/deliveries").text
            expectContains(deliveries, #"<a href="/outbox">outbox</a> (with a token)"#)
        }
    }

    @Test func testThatWhatWasGivenUpSaysHowItIsTriedAgain() async throws {
        try await withMessages { web in
            // when
            let page = try await web.send("GET", "/outbox", as: .viewer).text
            let listed = try await martlet(["outbox"], web).stdout
            let again = try await martlet(["outbox", "--retry", "1"], web)
            // then
            expectContains(page, "Once the cause is removed: <code>martlet outbox --retry 1</code>")
            #expect(!page.contains("--retry 2"), "it waits, and is sent by itself")
            expectContains(listed, "\n    once the cause is removed: martlet outbox --retry 1\n")
            #expect(again.stdout == "It is tried again: 1  waiting  kit#1 queued  status \(Self.api)\n")
            #expect(again.status == 0)
        }
    }

    @Test(
        .proves(
            .intake,
            "The outbox on the page `/outbox`, in the interface, in the metrics and by `martlet outbox`; an operator has what was given up tried again"
        ))
    func testThatAnOperatorHasWhatWasGivenUpTriedAgain() async throws {
        try await withMessages { web in
            // when
            try await web.expect(403, "POST", "/api/v1/outbox/1/retry", as: .viewer)
            try await web.expect(401, "GET", "/api/v1/outbox")
            let answer = try await web.send("POST", "/api/v1/outbox/1/retry", as: .operator)
            // then
            expectContains(answer.text, #""state":"waiting""#)
            try await web.expect(409, "POST", "/api/v1/outbox/1/retry", as: .operator)
            try await web.expect(409, "POST", "/api/v1/outbox/2/retry", as: .operator)
            try await web.expect(404, "POST", "/api/v1/outbox/9/retry", as: .operator)
            try await web.expect(400, "GET", "/api/v1/outbox?state=odd", as: .viewer)
            let again = try await martlet(["outbox", "--retry", "2"], web)
            #expect(again.status != 0)
            expectContains(again.stderr, "message 2 was not given up")
        }
    }

    @Test(
        .proves(
            .intake,
            "The outbox on the page `/outbox`, in the interface, in the metrics and by `martlet outbox`; an operator has what was given up tried again"
        ))
    func testThatWhatTellsOfARemovedIntegrationIsNotTriedAgain() async throws {
        try await withMessages { web in
            // given
            let kit = try #require(Name("kit"))
            #expect(try await web.store.removeIntegrations(of: kit, below: 2) == [1])
            // when
            let answer = try await web.send("POST", "/api/v1/outbox/1/retry", as: .operator)
            let printed = try await martlet(["outbox", "--retry", "1"], web)
            // then
            let sentence = "message 1 tells of kit#1, which was removed, so there is nothing to send"
            #expect(answer.status == 404)
            expectContains(answer.text, sentence)
            expectContains(printed.stderr, sentence)
            #expect(printed.status != 0)
        }
    }
}

/// Messages that cannot be delivered, on pages and in `martlet doctor`.
@Suite(
    .proves(
        .notices,
        "A destination that does not get its messages is shown on the overview and the bot's page, and by `doctor`"))
struct UndeliveredPageTests {
    private static let api = "https://git.example/api/v1"

    @Test func testThatTheOverviewTheBotsPageAndDoctorNameIt() async throws {
        try await withWeb { web in
            // given
            let kit = try #require(Name("kit"))
            let other = try #require(Name("other"))
            let target = StatusTarget(forge: .gitea, credentials: "kit-status", api: Self.api, project: "acme/kit")
            try await web.store.register(
                [
                    BotSpecification(name: kit, repository: "https://git.example/acme/kit.git", status: target),
                    BotSpecification(name: other, repository: "https://git.example/acme/other.git"),
                ], at: WebFixture.now)
            _ = try await web.store.queue(
                NewIntegration(
                    bot: kit, ref: RefName(branch: "main"),
                    commit: #require(CommitID(String(repeating: "a", count: 40))), cause: .person), at: WebFixture.now)
            let quiet = try await web.send("GET", "/", as: .viewer).text
            #expect(!quiet.contains("cannot be delivered"))
            let message = try #require(
                try await web.store.takeMessage(
                    for: OutboxPlace(kind: .status, name: Self.api, account: "kit-status"), at: WebFixture.now,
                    horizon: .seconds(60)))
            try await web.store.settle(
                message, as: .givenUp(reason: "it answered 401 (<no> such token)"), at: WebFixture.now)

            // when
            let overview = try await web.send("GET", "/", as: .viewer).text
            let page = try await web.send("GET", "/bots/kit", as: .viewer).text
            let elsewhere = try await web.send("GET", "/bots/other", as: .viewer).text
            let said = try await doctor(web)

            // then
            let words =
                "Messages to \(Self.api) (status) were not delivered, and were given up; the first failed just now."
            expectContains(overview, "Messages that cannot be delivered")
            for text in [overview, page] {
                expectContains(text, words)
                expectContains(text, "it answered 401 (&lt;no&gt; such token)")
            }
            #expect(!elsewhere.contains("were not delivered"))
            expectContains(
                said,
                "!!  messages  status \(Self.api): the message about kit#1 was given up: it answered 401 (<no> such token); "
                    + "remove the cause, then `martlet outbox --retry 1`\n")
            // Addresses can be secrets, so a caller without a role does not get them.
            #expect(!(try await web.send("GET", "/").text).contains(Self.api))
        }
    }

    private func doctor(_ web: WebFixture) async throws -> String {
        let settings = try web.directory.write("martlet.yml", "isolation: none\nstate: \(web.state)\n")
        return try await run(
            [try TestTools.builtProduct("martlet"), "doctor", "--settings", settings],
            environment: ["PATH": "/usr/bin:/bin", "HOME": web.directory.path, "MARTLET_URL": web.socket]
        ).stdout
    }
}
