import HTTPTypes
import Model
import Storage
import TestSupport
import Testing

@testable import Web

/// The row that each change leaves in the audit: for every route of the interface and every form of a page.
@Suite struct AuditRowsTests {
    /// A change by a request, and the row that it leaves.
    private struct Deed {
        /// The method and the pattern of the route.
        var route: String
        /// What stands in the pattern's places, and the fields of a form.
        var values: [String: String] = [:]
        var body = "{}"
        var role: Role = .operator
        var row: Row

        var path: String {
            values.reduce(String(route.split(separator: " ")[1]).replacing("{bot}", with: "kit")) {
                $0.replacing("{\($1.key)}", with: $1.value)
            }
        }
    }

    /// What a test compares of a row of the audit.
    private struct Row: Equatable {
        var action: AuditAction
        var bot: String?
        var subject: String
        var detail: String?

        init(_ action: AuditAction, _ bot: String?, _ subject: String, _ detail: String? = nil) {
            (self.action, self.bot, self.subject, self.detail) = (action, bot, subject, detail)
        }
    }

    /// Routes that change nothing that the audit has, or whose rows other tests show.
    private static let others: Set<String> = [
        // These change nothing that a person decides: a job gets its secrets, and a package manager tries a token.
        "POST /api/v1/attempts/secrets", "POST /registry/login",
        // On the Unix socket alone: `AuditTests` and `SecretCommandTests`.
        "POST /api/v1/secrets/{name}/changed",
    ]

    private static let repository = "/srv/kit.git"
    private static let main = String(repeating: "12", count: 20)
    private static let head = String(repeating: "ab", count: 20)
    private static let forge = "https://git.example/api/v1"

    /// The numbers of what `withKit` makes.
    private struct Numbers: Sendable {
        var queued: String
        var red: String
        /// The number of the integration that is asked for.
        var next: String
        var message: String
    }

    // MARK: Given

    /// Runs a test with `kit`: an integration that waits and one that is red, a fork's pull request that waits, a message that was given up, a
    /// version, and two bots without files.
    private func withKit(_ body: @escaping @Sendable (WebFixture, Numbers) async throws -> Void) async throws {
        let file = """
            repository: \(Self.repository)
            poll: off
            branches: [main]
            pull-requests: approved
            status: { forge: gitea, credentials: kit-status, api: "\(Self.forge)", project: acme/kit }

            """
        try await withWeb(bots: ["kit": file], isSandboxed: true) { web in
            let (store, now) = (web.store, WebFixture.now)
            let known = try await store.specifications()
            let retired = ["old", "older"].map {
                BotSpecification(name: Name(nearest: $0), repository: Self.repository)
            }
            _ = try await store.register(known + retired, at: now)
            _ = try await store.register(known, at: now)
            try await scan(web)
            let queued = try #require(try await store.queued().first)
            let place = OutboxPlace(kind: .status, name: Self.forge, account: "kit-status")
            let message = try #require(try await store.takeMessage(for: place, at: now, horizon: .seconds(60)))
            try await store.settle(message, as: .givenUp(reason: "it answered 401"), at: now)
            let sample = SampleContent(web: web)
            let red = try await sample.integrate(
                0, ref: "main", failing: ["parsesAnEmptyLine()"], warnings: 2, before: nil)
            try await sample.publish("1.0.0", by: red)
            try await body(
                web,
                Numbers(
                    queued: "\(queued.id.number)", red: "\(red.id.number)", next: "\(red.id.number + 1)",
                    message: "\(message.id)"))
        }
    }

    /// Stores what a scan found: the branch `main`, and a pull request's head that waits for an approval.
    private func scan(_ web: WebFixture) async throws {
        let (main, pull) = (RefName(branch: "main"), RefName("refs/pull/12/head"))
        let claim = PullRequestClaim(
            number: 12, ref: pull, place: pull, base: main, head: nil, isOpen: true, toldAt: nil)
        _ = try await web.store.record(
            NewEvent(
                repository: Self.repository, source: .webhook, hook: "github/kit", deliveryID: "1",
                event: "pull_request", receivedAt: WebFixture.now, claims: [.head(of: pull)], pull: claim))
        try await web.store.requestScan(at: Self.repository)
        let request = try #require(try await web.store.repositoriesToScan().first)
        let watcher = Watcher(
            bot: SampleContent.kit, patterns: "main", watches: { $0 == main }, isRelease: { _ in false },
            supersede: { _ in .never }, answer: { _ in .awaitsApproval })
        _ = try await web.store.apply(
            RefScan(
                request: request, heads: [main: try #require(CommitID(Self.main))],
                others: [pull: try #require(CommitID(Self.head))], asked: [pull], defaultBranch: main,
                at: WebFixture.now, cause: .poll, watchers: [watcher]))
    }

    /// Returns the new rows, the oldest first.
    private func rows(_ web: WebFixture, after old: Int) async throws -> [AuditEntry] {
        try await web.store.audit(limit: 200).items.reversed().map(\.entry).dropFirst(old).map(\.self)
    }

    private func expectRow(_ entries: [AuditEntry], of deed: Deed, actor: String) {
        #expect(
            entries.map { Row($0.action, $0.bot?.description, $0.subject, $0.detail) } == [deed.row],
            "\(deed.route)")
        #expect(entries.map(\.actor) == [actor], "\(deed.route)")
        #expect(entries.map(\.address) == ["127.0.0.1"], "\(deed.route)")
    }

    // MARK: The interface

    private static func deeds(_ numbers: Numbers) -> [Deed] {
        let integration = "/api/v1/bots/{bot}/integrations/{number}"
        let (queued, red) = (["number": numbers.queued], ["number": numbers.red])
        let issue = ["number": numbers.red, "fingerprint": String(repeating: "0", count: 64)]
        let (kit, named) = ("kit#\(numbers.red)", "kit#\(numbers.red) 000000000000")
        return [
            Deed(
                route: "POST /api/v1/outbox/{number}/retry", values: ["number": numbers.message],
                row: Row(.retried, "kit", "message \(numbers.message)")),
            Deed(
                route: "POST /api/v1/bots/{bot}/integrations", body: #"{"commit":"\#(main)"}"#,
                row: Row(.integrated, "kit", "kit#\(numbers.next)", main)),
            Deed(
                route: "POST \(integration)/cancel", values: queued,
                row: Row(.canceled, "kit", "kit#\(numbers.queued)")),
            Deed(
                route: "POST \(integration)/issues/{fingerprint}/silence", values: issue,
                body: #"{"reason":"of a library"}"#, row: Row(.muted, "kit", named, "of a library")),
            Deed(
                route: "POST \(integration)/issues/{fingerprint}/unsilence", values: issue,
                row: Row(.unmuted, "kit", named)),
            Deed(route: "POST \(integration)/rerun", values: red, row: Row(.rerun, "kit", kit)),
            Deed(
                route: "POST /api/v1/bots/{bot}/pull-requests/{number}/approve", values: ["number": "12"],
                body: #"{"commit":"\#(head)"}"#, row: Row(.approved, "kit", "kit!12", head)),
            Deed(
                route: "POST /api/v1/products/{product}/versions/{version}/yank",
                values: ["product": "kit", "version": "1.0.0"], row: Row(.yanked, nil, "kit 1.0.0")),
            Deed(
                route: "POST /api/v1/prune", body: #"{"bot":"kit"}"#, row: Row(.pruned, "kit", "kit", "0 integrations")),
            Deed(
                route: "POST /api/v1/pause", body: #"{"bot":"kit","reason":"a new disk"}"#,
                row: Row(.paused, "kit", "kit", "a new disk")),
            Deed(route: "POST /api/v1/resume", body: #"{"bot":"kit"}"#, row: Row(.resumed, "kit", "kit")),
            Deed(
                route: "POST /api/v1/drain", body: #"{"reason":"a new kernel"}"#,
                row: Row(.drained, nil, "the service", "a new kernel")),
            Deed(route: "POST /api/v1/pause", row: Row(.paused, nil, "the service")),
            Deed(route: "POST /api/v1/resume", row: Row(.resumed, nil, "the service")),
            Deed(route: "POST /api/v1/bots/{bot}/clean", row: Row(.botCleaned, "kit", "kit", "0 workspaces")),
            Deed(
                route: "POST /api/v1/bots/{name}/rename", values: ["name": "older"], body: #"{"name":"core"}"#,
                role: .admin, row: Row(.botRenamed, "core", "older", "now core")),
            Deed(
                route: "POST /api/v1/bots/{name}/delete", values: ["name": "old"], body: #"{"dryRun":false}"#,
                role: .admin, row: Row(.botDeleted, "old", "old", "0 integrations")),
            Deed(
                route: "POST /api/v1/tokens", body: #"{"name":"nightly","role":"viewer"}"#, role: .admin,
                row: Row(.tokenCreated, nil, "nightly", "viewer")),
            Deed(
                route: "DELETE /api/v1/tokens/{name}", values: ["name": "nightly"], role: .admin,
                row: Row(.tokenRevoked, nil, "nightly")),
        ]
    }

    /// The changes for which something more is made first.
    private static let later = (
        session: Deed(
            route: "DELETE /api/v1/sessions/{number}", values: ["number": "1"], role: .admin,
            row: Row(.sessionEnded, nil, "session 1")),
        publishing: Deed(
            route: "POST /api/v1/resume",
            body: #"{"publishing":true,"published":[{"product":"kit","version":"1.0.1"}]}"#,
            row: Row(.resumed, nil, "publishing", "published meanwhile: kit 1.0.1")),
        reruns: Deed(
            route: "POST /api/v1/reruns", body: #"{"since":"2026-03-01T11:00:00Z"}"#,
            row: Row(.rerun, "kit", "kit#", "failed by the machine's fault: internal-error"))
    )

    private func perform(_ deed: Deed, _ web: WebFixture) async throws {
        let old = try await rows(web, after: 0).count
        let answer = try await web.send(
            String(deed.route.prefix { $0 != " " }), deed.path, as: deed.role,
            headers: [("Content-Type", "application/json")], body: Array(deed.body.utf8))
        #expect((200..<300).contains(answer.status), "\(deed.route): \(answer.text)")
        expectRow(try await rows(web, after: old), of: deed, actor: deed.role.rawValue)
    }

    @Test(.proves(.operating, "Each route and each form that changes something leaves its row in the audit"))
    func testThatEachRouteLeavesItsRow() async throws {
        try await withKit { web, numbers in
            for deed in Self.deeds(numbers) { try await perform(deed, web) }
            _ = try await WebBrowser.signedIn(web, as: .viewer)
            try await perform(Self.later.session, web)
            try await web.store.recordRestore(of: "2026-02-28T00:00:00.000Z", by: "ann", at: WebFixture.now)
            try await perform(Self.later.publishing, web)
            // given: an integration that failed by the machine's fault
            let failed = try await web.store.queue(
                NewIntegration(
                    bot: SampleContent.kit, ref: RefName(branch: "main"), commit: SampleContent.commits[1],
                    cause: .person), at: WebFixture.now)
            try await web.store.apply(.started, to: failed.id, at: WebFixture.now)
            try await web.store.apply(
                .completed(.internalError, triggerFailed: false), to: failed.id, at: WebFixture.now)
            var reruns = Self.later.reruns
            reruns.row.subject = "\(failed.id)"
            try await perform(reruns, web)
        }
    }

    // MARK: Forms

    private static func forms(_ numbers: Numbers) -> [Deed] {
        let integration = "/bots/{bot}/integrations/{number}"
        let issue = ["number": numbers.red, "fingerprint": String(repeating: "0", count: 64)]
        let named = "kit#\(numbers.red) 000000000000"
        return [
            Deed(
                route: "POST /outbox/{number}/retry", values: ["number": numbers.message],
                row: Row(.retried, "kit", "message \(numbers.message)")),
            Deed(
                route: "POST /bots/{bot}/integrate", values: ["commit": main],
                row: Row(.integrated, "kit", "kit#\(numbers.next)", main)),
            Deed(
                route: "POST \(integration)/cancel", values: ["number": numbers.queued],
                row: Row(.canceled, "kit", "kit#\(numbers.queued)")),
            Deed(
                route: "POST \(integration)/issues/{fingerprint}/mute",
                values: issue.merging(["reason": "of a library"]) { $1 }, row: Row(.muted, "kit", named, "of a library")
            ),
            Deed(
                route: "POST \(integration)/issues/{fingerprint}/unmute", values: issue,
                row: Row(.unmuted, "kit", named)),
            Deed(
                route: "POST \(integration)/rerun", values: ["number": numbers.red, "what": "failed"],
                row: Row(.rerun, "kit", "kit#\(numbers.red)", "failed")),
            Deed(
                route: "POST /bots/{bot}/pull-requests/{number}/approve", values: ["number": "12", "commit": head],
                row: Row(.approved, "kit", "kit!12", head)),
            Deed(
                route: "POST /products/{product}/{version}/yank", values: ["product": "kit", "version": "1.0.0"],
                row: Row(.yanked, nil, "kit 1.0.0")),
            Deed(
                route: "POST /pause", values: ["reason": "a new disk"],
                row: Row(.paused, nil, "the service", "a new disk")),
            Deed(route: "POST /resume", row: Row(.resumed, nil, "the service")),
            Deed(route: "POST /bots/{bot}/pause", row: Row(.paused, "kit", "kit")),
            Deed(route: "POST /bots/{bot}/resume", row: Row(.resumed, "kit", "kit")),
            Deed(
                route: "POST /sessions/{number}/end", values: ["number": "2"],
                row: Row(.sessionEnded, nil, "session 2")),
            Deed(route: "POST /sign-out", row: Row(.signedOut, nil, "operator")),
        ]
    }

    @Test(.proves(.operating, "Each route and each form that changes something leaves its row in the audit"))
    func testThatEachFormLeavesItsRow() async throws {
        try await withKit { web, numbers in
            // given
            let old = try await rows(web, after: 0).count
            let browser = try await WebBrowser.signedIn(web, as: .operator)
            let signIn = Deed(
                route: "POST /sign-in", row: Row(.signedIn, nil, "operator", "with the token of this name"))
            expectRow(try await rows(web, after: old), of: signIn, actor: "operator")
            _ = try await WebBrowser.signedIn(web, as: .operator)
            for deed in Self.forms(numbers) {
                let old = try await rows(web, after: 0).count
                // when
                let fields = deed.values.filter { !deed.route.contains("{\($0.key)}") }
                let answer = try await browser.send(deed.path, fields.map { ($0.key, $0.value) })
                // then
                #expect(answer.status == 303, "\(deed.route): \(answer.text)")
                expectRow(try await rows(web, after: old), of: deed, actor: "operator")
            }
        }
    }

    /// A route that is new is in neither table, and is entered by hand.
    @Test func testThatEveryRouteThatChangesSomethingIsInATable() async throws {
        try await withWeb { web in
            let numbers = Numbers(queued: "1", red: "2", next: "3", message: "4")
            let shown = Self.deeds(numbers) + Self.forms(numbers) + [Self.later.session, Self.later.reruns]
            let known = Set(shown.map { $0.route.replacing("/bots/{name}/", with: "/bots/{bot}/") })
                .union(Self.others).union(["POST /sign-in"])
            let routes = web.table.routes.filter { $0.method != .get && $0.access != .signature }
            #expect(Set(routes.map { "\($0.method.rawValue) \($0.pattern)" }) == known)
        }
    }

    // MARK: The command

    @Test(.proves(.operating, "Admins alone read the audit: as the page `/audit`, by the API and by `martlet audit`"))
    func testThatTheCommandListsAndFiltersIt() async throws {
        try await withWeb { web in
            // given
            for (place, actor) in ["ann", "bob"].enumerated() {
                let entry = AuditEntry(
                    .paused, actor: actor, address: place == 0 ? "192.0.2.7" : nil, bot: SampleContent.kit,
                    subject: "kit", detail: "a\u{1B}[31m disk")
                try await web.store.record(entry, at: WebFixture.now + .seconds(Int64(place)))
            }
            // when
            let all = try await martlet(["audit", "--bot", "kit"], web)
            let ofAnn = try await martlet(["audit", "--actor", "ann", "--action", "paused", "--json"], web)
            let one = try await martlet(["audit", "--limit", "1"], web)
            let none = try await martlet(["audit", "--actor", "eve"], web)
            let wrong = try await martlet(["audit", "--action", "danced"], web)
            // then
            #expect(all.status == 0, "\(all.stderr)")
            let lines = all.stdout.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
            #expect(
                lines == [
                    "WHEN WHO FROM ACTION WHAT",
                    "2026-03-01T12:00:01.000Z bob this machine paused kit: a�[31m disk",
                    "2026-03-01T12:00:00.000Z ann 192.0.2.7 paused kit: a�[31m disk",
                ])
            expectLacks(all.stdout, "\u{1B}")
            expectContains(ofAnn.stdout, #""actor":"ann","address":"192.0.2.7","bot":"kit","subject":"kit""#)
            expectLacks(ofAnn.stdout, "bob")
            #expect(one.stdout.split(separator: "\n").count == 2)
            #expect(none.status == 0 && none.stdout == "The audit has no such row.\n")
            #expect(wrong.status == 1)
            expectContains(wrong.stderr, "`action` is one of signed-in, ")
        }
    }
}
