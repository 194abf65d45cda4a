import Foundation
import Integrations
import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// Pauses as users see them. `PausingTests` shows that nothing starts.
@Suite struct ControlRoutesTests {
    /// Runs a test with `kit`, which is paused with a hostile reason, and an integration of it that waits.
    private func withPause(_ body: @escaping @Sendable (WebFixture) async throws -> Void) async throws {
        try await withWeb(bots: ["kit": "repository: /srv/kit.git\npoll: off\n"]) { web in
            let kit = SampleContent.kit
            _ = try await web.store.queue(
                NewIntegration(
                    bot: kit, ref: RefName(branch: "main"),
                    commit: #require(CommitID(String(repeating: "a", count: 40))), cause: .person),
                at: WebFixture.now)
            _ = try await web.operations.control.pause(bot: kit, reason: "a <b>new\u{1B}[31m disk", by: "ann")
            try await body(web)
        }
    }

    @Test(
        .proves(
            .web,
            "A pause with its user and reason is on the overview, the bot's page and the queue, in the interface, the metrics, `martlet bots` and `martlet queue`"
        ))
    func testThatABotsPauseIsShownEverywhere() async throws {
        try await withPause { web in
            let api = #""pause":{"scope":"bot","bot":"kit","reason":"a \u003cb\u003enew�[31m disk","by":"ann","#
            for path in ["/api/v1/bots", "/api/v1/bots/kit"] {
                expectContains(try await web.json(path), api + #""since":"2026-03-01T12:00:00.000Z"}"#)
            }
            expectContains(
                try await web.json("/api/v1/queue"), #""reason":"paused by ann: a \u003cb\u003enew�[31m disk""#)
            for path in ["/", "/bots/kit", "/queue"] {
                let page = try await web.send("GET", path).text
                expectContains(page, "paused by ann: a &lt;b&gt;new")
                expectLacks(page, "<b>new")
                expectLacks(page, "\u{1B}")
            }
            let metrics = try await web.json("/metrics")
            expectContains(metrics, "martlet_bot_paused{bot=\"kit\"} 1\n")
            expectContains(metrics, "martlet_paused 0\n")
            for arguments in [["bots"], ["bot", "kit"], ["queue"]] {
                let shown = try await martlet(arguments, web)
                expectContains(shown.stdout, "kit is paused since 2026-03-01T12:00:00.000Z by ann: a <b>new")
                expectLacks(shown.stdout, "\u{1B}")
            }
        }
    }

    @Test(
        .proves(.intake, "`martlet pause`, `resume` and `drain` say what is paused, and exit with 1 where nothing was"))
    func testThatCommandsPauseResumeAndDrain() async throws {
        try await withWeb(bots: ["kit": "repository: /srv/kit.git\npoll: off\n"]) { web in
            // when, then
            let user = NSUserName()
            let paused = try await martlet(["pause", "--reason", "a new disk"], web)
            #expect(paused.status == 0, "\(paused.stderr)")
            #expect(
                paused.stdout == "the service is paused since 2026-03-01T12:00:00.000Z by \(user): a new disk\n")
            let bot = try await martlet(["pause", "kit"], web)
            expectContains(bot.stdout, "kit is paused since 2026-03-01T12:00:00.000Z by \(user)\n")
            let drained = try await martlet(["drain", "--json"], web)
            expectContains(drained.stdout, #"{"pauses":[{"scope":"service","bot":null,"#)
            expectContains(drained.stdout, #"{"scope":"drain","bot":null,"reason":null,"by":"\#(user)","#)
            expectContains(try await web.json("/metrics"), "martlet_paused 1\n")
            expectContains(try await web.json("/metrics"), "martlet_drained 1\n")
            let page = try await web.send("GET", "/products").text
            expectContains(page, "<strong>Drained</strong> No integration starts until the machine has restarted.")
            expectContains(page, "<strong>Paused</strong> No integration starts.")
            // when: one command ends both, and not the bot's
            let resumed = try await martlet(["resume"], web)
            #expect(resumed.stdout == "kit is paused since 2026-03-01T12:00:00.000Z by \(user)\n")
            #expect(try await martlet(["resume", "kit"], web).stdout == "nothing is paused\n")
            let again = try await martlet(["resume"], web)
            #expect(again.status == 1)
            expectContains(again.stderr, "the service is neither paused nor drained")
            #expect(try await martlet(["pause", "nobody"], web).status == 66)
            #expect(try await martlet(["pause", "Not a name"], web).status == 66)
        }
    }

    @Test(
        .proves(
            .releases,
            "After a restore publishing is held, and a number that was published after the backup never gets other bytes"
        ))
    func testThatAnOperatorLetsPublishingGoOn() async throws {
        try await withWeb(bots: ["kit": "repository: /srv/kit.git\npoll: off\n"]) { web in
            // given
            try await web.store.recordRestore(of: "2026-02-28T00:00:00.000Z", by: "ann", at: WebFixture.now)
            expectContains(
                try await web.send("GET", "/").text,
                "<strong>Held</strong> Nothing is published or uploaded until an operator runs martlet resume --publishing."
            )
            expectContains(try await martlet(["queue"], web).stdout, "publishing is held since 2026-03-01")
            // when
            let wrong = try await martlet(["resume", "--publishing", "--published", "kit"], web)
            let twice = try await martlet(["resume", "--publishing", "kit"], web)
            let bad = try await martlet(["resume", "--publishing", "--published", "kit=soon"], web)
            let bare = try await martlet(["resume", "--publishing"], web)
            let both = try await martlet(
                ["resume", "--publishing", "--none-published", "--published", "kit=1.4.3"], web)
            let body = try await web.send(
                "POST", "/api/v1/resume", as: .operator, headers: [("Content-Type", "application/json")],
                body: Array(#"{"publishing": true}"#.utf8))
            // then
            #expect(wrong.status == 64 && twice.status == 64 && bad.status == 1)
            #expect(bare.status == 64 && both.status == 64 && body.status == 400)
            expectContains(bare.stderr, "or --none-published, if there is none")
            #expect(try await web.store.pauses().publishing != nil)
            // when
            let done = try await martlet(["resume", "--publishing", "--published", "kit=1.4.3"], web)
            // then
            #expect(done.stdout == "nothing is paused\n")
            let next = try await web.store.nextVersion(major: 1, minor: 4, product: SampleContent.kit, onDisk: [])
            #expect(next == .reserved(try #require(SemanticVersion("1.4.4"))))
            let again = try await martlet(["resume", "--publishing", "--none-published"], web)
            #expect(again.status == 1)
            expectContains(again.stderr, "publishing is not held")
        }
    }

    @Test(
        .proves(
            .releases,
            "Publishing that a restore holds goes on only once an operator has said which versions were published since, or that none was"
        ))
    func testThatPublishingGoesOnWhereNoneWasPublished() async throws {
        try await withWeb(bots: ["kit": "repository: /srv/kit.git\npoll: off\n"]) { web in
            // given
            try await web.store.recordRestore(of: "2026-02-28T00:00:00.000Z", by: "ann", at: WebFixture.now)
            // when
            let done = try await martlet(["resume", "--publishing", "--none-published"], web)
            // then
            #expect(done.stdout == "nothing is paused\n")
            #expect(try await web.store.pauses().publishing == nil)
        }
    }

    @Test(.proves(.web, "Buttons on the queue and on a bot's page pause and resume"))
    func testThatButtonsPauseAndResume() async throws {
        try await withWeb(bots: ["kit": "repository: /srv/kit.git\npoll: off\n"]) { web in
            let browser = try await WebBrowser.signedIn(web, as: .operator)
            // when, then
            expectContains(try await browser.get("/queue").text, "action=\"/pause\"")
            expectContains(try await browser.act("/pause", ["reason": "a new disk"]), "The service is paused")
            #expect(try await web.store.pauses().service?.reason == "a new disk")
            expectContains(try await browser.get("/queue").text, "action=\"/resume\"")
            #expect(try await browser.act("/resume") == "The service goes on.")
            expectContains(try await browser.get("/bots/kit").text, "action=\"/bots/kit/pause\"")
            expectContains(try await browser.act("/bots/kit/pause"), "kit is paused")
            #expect(try await web.store.pauses().bots[SampleContent.kit]?.person == "operator")
            expectContains(try await browser.get("/bots/kit").text, "action=\"/bots/kit/resume\"")
            #expect(try await browser.act("/bots/kit/resume") == "kit goes on.")
            #expect(try await web.store.pauses() == Pauses())
        }
    }
}
