import Foundation
import Integrations
import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// Pull requests on pages, in the API and on the command line, and an operator's approval.
@Suite(
    .proves(
        .intake,
        "Pull requests: shown on the bot's and the integration's page, in the API and by `martlet pull-requests`, `approve`, `show`; badge and latest are not theirs"
    ))
struct PullRequestRoutesTests {
    private static let place = RefName("refs/pull/12/head")
    private static let head = String(repeating: "ab", count: 20)
    private static let next = String(repeating: "cd", count: 20)
    private static let main = String(repeating: "12", count: 20)

    /// Runs a test with a fork's pull request whose head waits, announced by an event and seen by a scan.
    private func withWaiting(_ body: @Sendable (WebFixture) async throws -> Void) async throws {
        let file = "repository: /srv/kit.git\npoll: off\nbranches: [main]\npull-requests: approved\n"
        try await withWeb(bots: ["kit": file], isSandboxed: true) { web in
            let claim = PullRequestClaim(
                number: 12, ref: Self.place, place: Self.place, base: RefName(branch: "main"), head: nil, isOpen: true,
                toldAt: nil)
            _ = try await web.store.record(
                NewEvent(
                    repository: "/srv/kit.git", source: .webhook, hook: "github/kit", deliveryID: "1",
                    event: "pull_request", receivedAt: WebFixture.now, claims: [.head(of: Self.place)], pull: claim))
            try await scan(web, head: Self.head)
            try await body(web)
        }
    }

    private func scan(_ web: WebFixture, head: String) async throws {
        try await web.store.requestScan(at: "/srv/kit.git")
        let request = try #require(try await web.store.repositoriesToScan().first)
        let watcher = Watcher(
            bot: try #require(Name("kit")), patterns: "main", watches: { $0 == RefName(branch: "main") },
            isRelease: { _ in false }, supersede: { _ in .never }, answer: { _ in .awaitsApproval })
        _ = try await web.store.apply(
            RefScan(
                request: request, heads: [RefName(branch: "main"): try #require(CommitID(Self.main))],
                others: [Self.place: try #require(CommitID(head))], asked: [Self.place],
                defaultBranch: RefName(branch: "main"), at: WebFixture.now, cause: .poll, watchers: [watcher]))
    }

    private func approve(_ web: WebFixture, _ commit: String, as role: Role, number: String = "12") async throws
        -> RawAnswer
    {
        try await web.send(
            "POST", "/api/v1/bots/kit/pull-requests/\(number)/approve", as: role,
            headers: [("Content-Type", "application/json")], body: Array(#"{"commit":"\#(commit)"}"#.utf8))
    }

    @Test func testThatWhatWaitsIsShownWithWhatToDo() async throws {
        try await withWaiting { web in
            // when
            let json = try await web.json("/api/v1/bots/kit/pull-requests")
            let page = try await web.send("GET", "/bots/kit").text
            let listed = try await martlet(["pull-requests", "kit"], web).stdout
            let ledger = try await web.send("GET", "/deliveries").text

            // then
            let reason =
                "its head is a fork's and waits for an operator: martlet approve 'kit!12' --commit \(Self.head)"
            expectContains(
                json,
                #"{"items":[{"number":12,"base":"refs/heads/main","head":"\#(Self.head)","source":null,"trusted":false,"#
                    + #""state":"waiting","reason":""#)
            for text in [page, ledger] {
                expectContains(text, "waits for an operator: martlet approve &#39;kit!12&#39; --commit \(Self.head)")
            }
            expectContains(ledger, #"<span class="count busy">waiting</span></td>"#)
            #expect(ledger.ranges(of: "waits for an operator").count == 1, "once in its row")
            expectContains(listed, "kit!12")
            expectContains(listed, reason)
            #expect(try await martlet(["pull-requests", "kit", "--json"], web).stdout == json)
        }
    }

    @Test func testThatAnOperatorApprovesJustTheHeadThatIsThere() async throws {
        try await withWaiting { web in
            // when, then: no other role, and only this head
            #expect(try await approve(web, Self.head, as: .viewer).status == 403)
            #expect(try await approve(web, Self.next, as: .operator).status == 409)
            #expect(try await approve(web, "abababab", as: .operator).status == 400)
            #expect(try await approve(web, Self.head, as: .operator, number: "13").status == 404)
            #expect(try await approve(web, Self.head, as: .operator, number: "-1").status == 404)
            #expect(try await web.store.integrations().items.filter { $0.pull != nil }.isEmpty)
            try await scan(web, head: Self.next)
            let late = try await approve(web, Self.head, as: .operator)
            #expect(late.status == 409)
            expectContains(late.text, "the head of pull request 12 is \(Self.next) now; review that commit")

            // when
            let approved = try await approve(web, Self.next, as: .operator)

            // then
            #expect(approved.status == 201)
            expectContains(
                approved.text,
                #""ref":"refs/pull/12/merge","base":"refs/heads/main","head":"\#(Self.next)","pullRequest":{"number":12,"#
                    + #""trusted":false,"source":null,"baseCommit":"\#(Self.main)","approvedBy":"operator","unmerged":null},"#
            )
            expectContains(try await web.json("/api/v1/bots/kit/pull-requests"), #""state":"integrated","reason":null"#)
        }
    }

    @Test(
        .proves(
            .web, "Buttons run again, cancel, integrate, mute, approve, retry and yank; each answers with a message"))
    func testThatTheButtonOfABotsPageApprovesTheHeadThatItShows() async throws {
        try await withWaiting { web in
            // given
            let browser = try await WebBrowser.signedIn(web, as: .operator)
            let page = try await browser.get("/bots/kit").text
            expectContains(page, "waits for approval")
            expectContains(page, "<input type=\"hidden\" name=\"commit\" value=\"\(Self.head)\">")
            // when
            let said = try await browser.act("/bots/kit/pull-requests/12/approve", ["commit": Self.head])
            // then
            #expect(said == "kit!12 is approved at abababab and runs as kit#2.")
            expectContains(try await browser.get("/bots/kit/2").text, "<span>pull request from a fork</span>")
        }
    }

    @Test func testThatAnIntegrationSaysWhatItIsOf() async throws {
        try await withWaiting { web in
            // given: approved by a command, and one that does not merge
            let approved = try await martlet(["approve", "kit!12", "--commit", Self.head], web)
            #expect(
                approved.stdout == "kit!12 approved at abababab: kit#2\nhttp://ci.example/bots/kit/2\n",
                "\(approved.stderr)")
            let id = try #require(IntegrationID("kit#2"))
            _ = try await web.store.recordMerge(
                of: id, commit: try #require(CommitID(Self.head)), unmerged: "it does not merge with <main>")

            // when
            let page = try await web.send("GET", "/bots/kit/2").text
            let shown = try await martlet(["show", "kit#2"], web).stdout

            // then
            expectContains(
                page,
                "<span>kit!12 into <span class=\"ref\">main</span>, from a fork, approved by \(NSUserName())</span>")
            expectContains(page, "<code title=\"\(Self.head)\">\(Self.head.prefix(12))</code>")
            expectContains(page, "it does not merge with &lt;main&gt;")
            expectContains(
                shown,
                "kit!12 into main, head abababababab, a fork's, approved by \(NSUserName())\nit does not merge with <main>\n"
            )
            expectContains(shown, "kit#2  !12  abababababab")
            // It is not the latest of the bot's branches
            expectContains(try await web.json("/api/v1/bots/kit/integrations/latest"), #""number":1,"#)
            try await web.store.apply(.completed(.canceled, triggerFailed: false), to: id, at: WebFixture.now)
            for target in ["/badge/kit.svg", "/cctray.xml", "/"] {
                #expect(try await !web.send("GET", target).text.contains("canceled"), "\(target)")
            }
        }
    }

    @Test func testThatCommandsSayWhatIsWrong() async throws {
        try await withWaiting { web in
            for (arguments, status) in [
                (["approve", "kit#12", "--commit", Self.head], Int32(64)), (["approve", "kit!12"], 64),
                (["approve", "kit!13", "--commit", Self.head], 66), (["approve", "kit!12", "--commit", Self.next], 1),
                (["pull-requests", "none"], 66),
            ] {
                let result = try await martlet(arguments, web)
                #expect(result.status == status, "\(arguments)")
            }
        }
    }
}
