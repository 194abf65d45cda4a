import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// The buttons of pages. `Tests/Acceptance/browser_sign.py` presses each in a real browser, with a daemon that runs jobs.
@Suite struct ActionsTests {
    private static let bot = ["kit": "repository: /srv/kit.git\npoll: off\n"]

    private func withKit(_ body: @escaping @Sendable (WebFixture, WebBrowser) async throws -> Void) async throws {
        try await withWeb(bots: Self.bot) { web in
            var sample = SampleContent(web: web)
            sample.projectType = .swiftPackage
            try await sample.fill()
            try await body(web, try await WebBrowser.signedIn(web, as: .operator))
        }
    }

    @Test(
        .proves(
            .web, "Buttons run again, cancel, integrate, mute, approve, retry and yank; each answers with a message"))
    func testThatAnIntegrationIsRunAgain() async throws {
        for (what, isFailed, isTriggers) in [("all", false, false), ("failed", true, false)] {
            try await withKit { web, browser in
                // when
                let said = try await browser.act("/bots/kit/integrations/1/rerun", ["what": what])
                // then
                #expect(said == "kit#1 is queued again: debug, release.")
                let id = IntegrationID(bot: SampleContent.kit, number: 1)
                let reruns = try await web.store.reruns(of: id)
                #expect(reruns.map(\.requestedBy) == ["operator"])
                #expect(reruns.map(\.isFailedOnly) == [isFailed] && reruns.map(\.isTriggersOnly) == [isTriggers])
            }
        }
    }

    @Test func testThatTriggersAloneAreRunAgain() async throws {
        let file = "repository: /srv/kit.git\npoll: off\ntriggers: [{ name: tell, run: tell }]\n"
        try await withWeb(bots: ["kit": file]) { web in
            // given
            try await SampleContent(web: web).fill()
            let browser = try await WebBrowser.signedIn(web, as: .operator)
            // when
            let said = try await browser.act("/bots/kit/integrations/2/rerun", ["what": "triggers"])
            // then
            #expect(said == "kit#2 is queued again, its triggers alone.")
            let reruns = try await web.store.reruns(of: IntegrationID(bot: SampleContent.kit, number: 2))
            #expect(reruns.map(\.isTriggersOnly) == [true])
        }
    }

    @Test func testThatChosenTestsAreRunAgain() async throws {
        for (fields, filter): (KeyValuePairs<String, String>, String) in [
            (["what": "tests", "tests": "KitTests.*Lines"], "KitTests.*Lines"),
            (
                ["what": "tests", "test": "KitTests.ParserTests/parsesAnEmptyLine()"],
                "KitTests.ParserTests/parsesAnEmptyLine()"
            ),
        ] {
            try await withKit { web, browser in
                let said = try await browser.act("/bots/kit/integrations/1/rerun", fields)
                let id = IntegrationID(bot: SampleContent.kit, number: 1)
                let filters = try await web.store.reruns(of: id).map(\.testFilter)
                #expect(filters == [filter], "\(said)")
            }
        }
    }

    @Test func testThatWhatIsNotDoneIsSaid() async throws {
        try await withKit { _, browser in
            for (path, fields, sentence): (String, KeyValuePairs<String, String>, String) in [
                ("/bots/kit/integrations/1/cancel", [:], "kit#1 is completed"),
                ("/bots/kit/integrations/1/rerun", ["what": "tests"], "No test was chosen."),
                ("/bots/kit/integrations/1/rerun", ["what": "<b>"], "`what` is all, failed, tests or triggers."),
                ("/bots/kit/integrations/9/rerun", [:], "There is no kit#9"),
                ("/bots/kit/integrate", ["branch": "a", "commit": "b"], "Name a branch or a commit, not both."),
                ("/bots/kit/integrations/1/issues/ffffff/mute", [:], "Say why the issue is muted."),
                (
                    "/bots/kit/integrations/1/issues/ffffff/mute", ["reason": "r", "until": "tomorrow"],
                    "`until` is a day such as 2026-12-31."
                ),
                ("/bots/kit/pull-requests/7/approve", [:], "The form names no commit to approve."),
                ("/outbox/7/retry", [:], "7"), ("/products/kit/1.x/yank", [:], "One version is yanked"),
            ] {
                let answer = try await browser.post(path, fields, origin: Self.from("/"))
                #expect(answer.status == 303, "\(path): \(answer.text)")
                let page = try await browser.get(try #require(answer["Location"]))
                expectContains(page.text, "class=\"said bad\"")
                expectContains(page.text, "Nothing was changed: \(sentence.prefix(1) == "7" ? "" : sentence)")
            }
        }
    }

    /// The headers of a form on a page of the service.
    private static func from(_ path: String) -> [(String, String)] {
        [("Origin", "http://127.0.0.1"), ("Referer", "http://127.0.0.1\(path)")]
    }

    @Test func testThatAnIssueIsMutedAndUnmuted() async throws {
        try await withKit { web, browser in
            // given
            let id = IntegrationID(bot: SampleContent.kit, number: 1)
            let issue = try #require(try await web.store.issuePage(of: id, limit: 1, after: -1).items.first)
            let place = "/bots/kit/integrations/1/issues/\(issue.fingerprint)"
            expectContains(try await browser.get("/bots/kit/1").text, "action=\"\(place)/mute\"")
            // when
            let said = try await browser.act(
                place + "/mute", ["reason": "of a <b>library</b>", "until": "2026-12-31"])
            // then
            expectContains(said, "Muted in all branches until 2026-12-31 00:00:00 UTC: ")
            let silence = try #require(try await web.store.silencedIssues(of: SampleContent.kit).first?.silence)
            #expect(silence.person == "operator" && silence.reason == "of a <b>library</b>")
            expectContains(try await browser.get("/bots/kit/1").text, ">1 muted</a>")
            let page = try await browser.get("/bots/kit/1/issues").text
            expectContains(page, "of a &lt;b&gt;library&lt;/b&gt;")
            expectContains(page, "action=\"\(place)/unmute\"")
            let newest = place.replacing("/integrations/1/", with: "/integrations/2/")
            expectContains(try await browser.get("/bots/kit/silences").text, "action=\"\(newest)/unmute\"")
            expectContains(try await browser.act(place + "/unmute"), "is muted no more.")
            #expect(try await web.store.silencedIssues(of: SampleContent.kit).isEmpty)
        }
    }

    @Test func testThatAVersionIsYanked() async throws {
        try await withKit { web, browser in
            expectContains(try await browser.get("/products/kit/1.0.0").text, "action=\"/products/kit/1.0.0/yank\"")
            expectContains(try await browser.act("/products/kit/1.0.0/yank"), "kit 1.0.0 is yanked")
            let page = try await browser.get("/products/kit/1.0.0").text
            expectContains(page, "This version was yanked")
            expectLacks(page, "/yank\"")
        }
    }

    @Test func testThatARunningIntegrationIsCanceledByItsButton() async throws {
        try await withKit { web, browser in
            let queued = try await web.store.queue(
                NewIntegration(
                    bot: SampleContent.kit, ref: RefName(branch: "main"), commit: SampleContent.commits[0],
                    cause: .push), at: WebFixture.now)
            let page = "/bots/kit/\(queued.id.number)"
            expectContains(try await browser.get(page).text, ">Cancel \(queued.id)</button>")
            #expect(
                try await browser.act("/bots/kit/integrations/\(queued.id.number)/cancel")
                    == "\(queued.id) is being canceled.")
        }
    }

    // MARK: Who sees what

    @Test func testThatOnlyThoseWhoMaySeeTheButtons() async throws {
        try await withWeb(bots: Self.bot) { web in
            try await SampleContent(web: web).fill()
            let browsers = [WebBrowser(web), try await WebBrowser.signedIn(web, as: .viewer)]
            for browser in browsers {
                for path in ["/", "/bots/kit", "/bots/kit/1", "/bots/kit/silences", "/products/kit/1.0.0"] {
                    let page = try await browser.get(path).text
                    let forms = page.pieces("method=\"post\"").count - 1
                    #expect(forms == (browser === browsers[0] ? 0 : 1), "\(path)")
                }
            }
        }
    }

    @Test func testThatEveryFormOfEveryPageHasItsToken() async throws {
        try await withKit { _, browser in
            for path in [
                "/", "/bots/kit", "/bots/kit/1", "/bots/kit/1/issues", "/bots/kit/silences", "/products/kit/1.0.0",
                "/sessions", "/nothing",
            ] {
                let page = try await browser.get(path).text
                let forms = page.pieces("method=\"post\"").dropFirst()
                #expect(!forms.isEmpty, "\(path)")
                for form in forms {
                    #expect(form.prefix(300).contains("name=\"csrf\" value=\"\(browser.csrf)\""), "\(path)")
                }
            }
        }
    }

    // MARK: Messages

    @Test(.proves(.web, "A message of a button survives the redirect, and no link can forge one"))
    func testThatNoLinkPutsAMessageOnAPage() async throws {
        try await withKit { web, browser in
            // given
            let other = try await WebBrowser.signedIn(web, as: .operator)
            let answer = try await browser.post("/bots/kit/integrations/1/rerun", ["next": "/bots/kit?branch=main#x"])
            let place = try #require(answer["Location"])
            #expect(place.hasPrefix("/bots/kit?branch=main&said=") && place.hasSuffix("#x"))
            let path = String(place.prefix { $0 != "#" })
            // then it is there again when the page is loaded again
            for _ in 0..<2 { expectContains(try await browser.get(path).text, "kit#1 is queued again") }
            for reader in [other, WebBrowser(web)] {
                expectLacks(try await reader.get(path).text, "is queued again")
            }
            for forged in ["Your%20password%20is%20old", "<b>", String(repeating: "0", count: 24), ""] {
                expectLacks(try await browser.get("/bots/kit?said=\(forged)").text, "class=\"said")
            }
        }
    }
}

@Suite struct PageMessagesTests {
    @Test func testThatAMessageIsShownForTenMinutesToItsSession() {
        let messages = PageMessages()
        let now = WebFixture.now
        let number = messages.add("done", for: "a", at: now)
        #expect(messages.message(number, for: "a", at: now + .seconds(599))?.text == "done")
        #expect(messages.message(number, for: "a", at: now + .seconds(600)) == nil)
        #expect(messages.message(number, for: "b", at: now) == nil)
    }

    @Test func testThatMessagesAreBounded() {
        let messages = PageMessages()
        let first = messages.add("first", for: "a", at: WebFixture.now)
        for _ in 0..<PageMessages.maximum { _ = messages.add("x", for: "a", at: WebFixture.now) }
        #expect(messages.message(first, for: "a", at: WebFixture.now) == nil)
        let long = messages.add(String(repeating: "ä", count: 5000), for: "a", at: WebFixture.now)
        #expect(messages.message(long, for: "a", at: WebFixture.now)?.text.utf8.count ?? 0 <= PageMessages.maximumBytes)
    }
}
