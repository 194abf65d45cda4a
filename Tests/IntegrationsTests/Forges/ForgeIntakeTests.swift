import BotSupport
import Model
import Settings
import Storage
import TestSupport
import Testing

@testable import Forges
@testable import Integrations

/// Deliveries from their signature to their row.
@Suite struct ForgeIntakeTests {
    private static let bots = [
        "kit": Core.kit, "tool": "webhook: { secret: kit-webhook }\n", "other": "webhook: { secret: other-webhook }\n",
        "open": "", "lost": "webhook: { secret: lost-webhook }\n",
    ]

    private func withBots(_ body: (Core, EventIntake) async throws -> Void) async throws {
        try await withCore(bots: Self.bots) { core in
            try core.secrets.set("other-webhook", "another secret")
            try await body(core, EventIntake(core))
        }
    }

    /// Expects a delivery to be refused, and to leave only the count.
    private func expectRefused(_ delivery: ForgeDelivery, _ core: Core, _ intake: EventIntake, _ comment: String)
        async throws
    {
        let (before, asked) = (intake.refusals.total, try await core.sequence())
        do {
            _ = try await intake.receive(delivery)
            Issue.record("accepted: \(comment)")
        } catch {
            #expect(error.code == .unauthenticated, "\(comment)")
        }
        #expect(intake.refusals.total == before + 1, "\(comment)")
        #expect(try await core.store.deliveries().items.isEmpty, "\(comment)")
        #expect(try await core.sequence() == asked, "\(comment)")
    }

    @Test(
        .proves(
            .intake,
            "Webhooks of GitHub: push, branch and tag created and deleted, pull request opened, updated, reopened, closed, ping"
        ), .proves(.intake, "Webhooks of Bitbucket Cloud, Bitbucket Server and Gogs"), arguments: ForgeSample.hosted)
    func testThatAPushIsStoredAndAsksForAScan(forge: Forge) async throws {
        try await withBots { core, intake in
            let before = try #require(try await core.sequence())
            let accepted = try await intake.receive(try ForgeSample.delivery(forge))
            #expect(accepted.delivery == "d-1" && !accepted.isDuplicate && accepted.ignored == nil)
            let stored = try #require(try await core.store.deliveries().items.first)
            #expect(stored.hook == "\(forge)/kit" && stored.bot?.description == "kit" && stored.outcome == .pending)
            #expect(stored.repository == core.repository())
            #expect(stored.claims.map(\.ref.description) == ["refs/heads/main"])
            #expect(try await core.sequence() == before + 1)
        }
    }

    @Test(
        .proves(.badInput, "A delivery without a valid signature leaves a count and no row (W1, W4, W5, W20)"),
        arguments: ForgeSample.hosted)
    func testW1ThatWhatIsNotSignedIsRefusedWithoutARow(forge: Forge) async throws {
        try await withBots { core, intake in
            let good = try ForgeSample.delivery(forge)
            let (name, right) = ForgeSample.proof(forge, try good.body.bytes())
            var values: [String?] = [
                nil, "", "x", right + "0", String(right.dropLast()), " " + right, right + " ", "\(right), \(right)",
                String(repeating: "a", count: 1 << 20), String(right.dropLast()) + (right.hasSuffix("0") ? "1" : "0"),
                right.uppercased(), ForgeSample.hmac(try good.body.bytes(), "a third secret"),
                "sha1=" + String(repeating: "a", count: 40),
                "sha512=" + right,
            ]
            // The other form: without the prefix, or with it.
            values.append(right.hasPrefix("sha256=") ? String(right.dropFirst(7)) : "sha256=" + right)
            for value in values {
                var delivery = good
                delivery.headers[name] = value
                try await expectRefused(delivery, core, intake, "\(forge) \((value ?? "nothing").prefix(90))")
                delivery.bot = nil
                try await expectRefused(delivery, core, intake, "\(forge) shared \((value ?? "nothing").prefix(90))")
            }
            var delivery = good
            delivery.headers[name] = nil
            // HMAC-SHA1 (RFC 2202), which some services still accept.
            delivery.headers["x-hub-signature"] = "sha1=cf93f9ba3c8d3a789e61f91e1e5c6a360d036e98"
            try await expectRefused(delivery, core, intake, "\(forge) by SHA-1 alone")
        }
    }

    @Test(
        .proves(.badInput, "A delivery without a valid signature leaves a count and no row (W1, W4, W5, W20)"),
        arguments: ForgeSample.hosted)
    func testW4ThatABotWithoutASecretTakesNothing(forge: Forge) async throws {
        try await withBots { core, intake in
            for bot in ["open", "lost", "nobody"] {
                for secret in ["", "a secret", "no bot's", "lost-webhook"] {
                    let delivery = try ForgeSample.delivery(forge, bot: bot, secret: secret)
                    try await expectRefused(delivery, core, intake, "\(forge)/\(bot) by \(secret)")
                }
            }
        }
    }

    @Test(
        .proves(.badInput, "A delivery without a valid signature leaves a count and no row (W1, W4, W5, W20)"),
        arguments: ForgeSample.hosted)
    func testW5ThatTheRawBytesAreSignedAndAnyOtherByteIsRefused(forge: Forge)
        async throws
    {
        try await withBots { core, intake in
            // A byte order mark, other line ends, escapes, and white space, which a JSON writer would not reproduce.
            let body =
                "\u{FEFF} "
                + ForgeSample.push(forge).replacing(",", with: " ,\r\n\t").replacing("main", with: "m\\u0061in")
                + "\r\n"
            var delivery = try ForgeSample.delivery(forge, body)
            _ = try await intake.receive(delivery)
            #expect(try await core.store.deliveries().items.first?.claims.map(\.ref.description) == ["refs/heads/main"])
            // A token does not sign bytes.
            guard forge != .gitlab else { return }
            let bytes = try delivery.body.bytes()
            for index in bytes.indices {
                var changed = bytes
                changed[index] ^= 1
                delivery.body = WebhookBody(changed)
                await expectRejection(OperationError.self, \.code, .unauthenticated) {
                    try await intake.receive(delivery)
                }
            }
            #expect(try await core.store.deliveries().items.count == 1)
        }
    }

    /// services/webhook/deliver.go: the code is made from the JSON, and sent beside a form.
    @Test(
        .proves(.intake, "Webhooks of Gitea and Forgejo, also as a form; Forgejo's own header is preferred"),
        arguments: [Forge.gitea, .forgejo, .gogs])
    func testW5ThatAFormIsVerifiedOverItsField(forge: Forge)
        async throws
    {
        try await withBots { core, intake in
            var delivery = try ForgeSample.delivery(forge)
            let json = String(decoding: try delivery.body.bytes(), as: UTF8.self)
            let escaped = json.utf8.map { "%" + String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            delivery.headers["content-type"] = "application/x-www-form-urlencoded"
            delivery.body = WebhookBody(Array("payload=\(escaped)".utf8))
            _ = try await intake.receive(delivery)
            #expect(try await core.store.deliveries().items.first?.claims.count == 1)
            delivery.body = WebhookBody(Array("payload=\(escaped)+".utf8))
            await expectRejection(OperationError.self, \.code, .unauthenticated) { try await intake.receive(delivery) }
        }
    }

    @Test func testW5ThatGitHubsFormIsVerifiedAsItCame() async throws {
        try await withBots { core, intake in
            let json = ForgeSample.push(.github)
            let form =
                "payload=" + json.utf8.map { "%" + String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            var delivery = try ForgeSample.delivery(.github, form)
            delivery.headers["content-type"] = "application/x-www-form-urlencoded"
            _ = try await intake.receive(delivery)
            #expect(try await core.store.deliveries().items.first?.claims.count == 1)
            delivery.headers["x-hub-signature-256"] = "sha256=" + ForgeSample.hmac(Array(json.utf8))
            await expectRejection(OperationError.self, \.code, .unauthenticated) { try await intake.receive(delivery) }
        }
    }

    @Test(
        .proves(
            .intake,
            "Same delivery again, also in parallel and after a restart, poll and webhook for the same push: one integration, each outcome stated"
        ), arguments: ForgeSample.hosted)
    func testW6ThatADeliveryCountsOnceHoweverOftenItComes(forge: Forge)
        async throws
    {
        try await withBots { core, intake in
            let before = try #require(try await core.sequence())
            let delivery = try ForgeSample.delivery(forge)
            let fresh = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<100 { group.addTask { try await !intake.receive(delivery).isDuplicate } }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(fresh == 1)
            // Another daemon over the same database.
            #expect(try await EventIntake(core).receive(delivery).isDuplicate)
            #expect(try await core.store.deliveries().items.count == 1)
            #expect(try await core.sequence() == before + 1)

            // The same id with another body.
            let other = try ForgeSample.delivery(forge, ForgeSample.push(forge, ref: "other"))
            await expectRejection(OperationError.self, \.code, .conflict) { try await intake.receive(other) }
            #expect(try await core.store.deliveries().items.count == 1)
        }
    }

    /// One push of three branches is three events with one `X-Gitlab-Event-UUID`.
    @Test(.proves(.intake, "Webhooks of GitLab: token, and Standard Webhooks signature"))
    func testThatGitLabsEventsOfOneRequestAreDeliveriesOfTheirOwn() async throws {
        try await withBots { core, intake in
            for ref in ["a", "b", "a"] {
                var delivery = try ForgeSample.delivery(.gitlab, ForgeSample.push(.gitlab, ref: ref), id: nil)
                delivery.headers["x-gitlab-event-uuid"] = "13792a34-cac6-4fda-95a8-c58e00a3954e"
                let accepted = try await intake.receive(delivery)
                #expect(accepted.delivery.hasPrefix("13792a34-cac6-4fda-95a8-c58e00a3954e/"))
            }
            #expect(try await core.store.deliveries().items.count == 2)
        }
    }

    @Test(arguments: [nil, "", "a b", "é", String(repeating: "a", count: 129)])
    func testThatADeliveryWithoutANameIsKnownByItsBody(id: String?) async throws {
        try await withBots { core, intake in
            let first = try await intake.receive(try ForgeSample.delivery(.github, id: id))
            #expect(first.delivery.hasPrefix("sha256:") && !first.isDuplicate)
            #expect(try await intake.receive(try ForgeSample.delivery(.github, id: id)).isDuplicate)
            let other = try ForgeSample.delivery(.github, ForgeSample.push(.github, ref: "b"), id: id)
            #expect(try await !intake.receive(other).isDuplicate)
        }
    }

    @Test(
        .proves(.intake, "Webhooks of Gitea and Forgejo, also as a form; Forgejo's own header is preferred"),
        .proves(.intake, "The forge comes from the URL, never from headers"))
    func testW8ThatTheForgeIsTheURLs() async throws {
        try await withBots { core, intake in
            // All headers that Gitea and Forgejo send (services/webhook/deliver.go).
            let body = Array(ForgeSample.push(.gitea).utf8)
            let code = ForgeSample.hmac(body)
            var headers = ["content-type": "application/json", "x-hub-signature-256": "sha256=" + code]
            for family in ["gitea", "forgejo", "gogs", "github"] {
                headers["x-\(family)-event"] = "push"
                headers["x-\(family)-event-type"] = "push"
                headers["x-\(family)-delivery"] = "f6266f16-1bf3-46a5-9ea4-602e06ead473"
                if family != "github" { headers["x-\(family)-signature"] = code }
            }
            for forge in [Forge.forgejo, .gitea] {
                _ = try await intake.receive(
                    ForgeDelivery(forge: forge, bot: try Samples.name("kit"), headers: headers, body: body))
            }
            #expect(try await core.store.deliveries().items.map(\.hook) == ["gitea/kit", "forgejo/kit"])

            let foreign = ForgeDelivery(
                forge: .gitlab, bot: try Samples.name("kit"),
                headers: ["x-gitlab-token": "a secret", "x-github-event": "push"],
                body: Array(ForgeSample.push(.gitlab).utf8))
            await expectRejection(OperationError.self, \.code, .invalid) { try await intake.receive(foreign) }
            let mixed = try ForgeSample.delivery(.github, ForgeSample.push(.gitlab))
            await expectRejection(OperationError.self, \.code, .invalid) { try await intake.receive(mixed) }
            #expect(try await core.store.deliveries().items.count == 2)
        }
    }

    @Test(
        .proves(.intake, "Every other authentic event 2xx and ignored, with its reason and no scan"),
        arguments: ForgeSample.hosted)
    func testW17ThatWhatMovesNothingIsTakenAndIgnored(forge: Forge) async throws {
        try await withBots { core, intake in
            let before = try await core.sequence()
            let words =
                switch forge {
                case .gitlab: ["Issue Hook", "Note Hook", "Wiki Page Hook", "Pipeline Hook", "Emoji Hook", "?"]
                case .bitbucket, .bitbucketServer:
                    ["repo:fork", "issue:created", "pr:comment:added", "diagnostics:ping", "?"]
                default: ["ping", "star", "watch", "gollum", "wiki", "issue_comment", "release", "fork", "?"]
                }
            for word in words {
                let accepted = try await intake.receive(
                    try ForgeSample.delivery(forge, "{}", event: word, id: "d-\(word.replacing(" ", with: "-"))"))
                #expect(accepted.ignored != nil, "\(word)")
            }
            #expect(try await core.store.deliveries().items.count == words.count)
            #expect(try await core.store.deliveries().items.allSatisfy { $0.outcome == .ignored && $0.reason != nil })
            #expect(try await core.sequence() == before)
            // None of them proves that pushes arrive.
            #expect(try await core.store.repository(core.repository())?.hasAuthenticWebhook == false)
        }
    }

    @Test(.proves(.badInput, "A delivery without a valid signature leaves a count and no row (W1, W4, W5, W20)"))
    func testW20ThatUnknownSendersAndCompressedBodiesAreRefused() async throws {
        try await withBots { core, intake in
            let random = (0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }
            for forge in ForgeSample.hosted {
                for body in [
                    random, [0x1F, 0x8B, 0x08, 0x00], Array(#"{"eventType":"git.push","publisherId":"tfs"}"#.utf8),
                ] {
                    var delivery = ForgeDelivery(
                        forge: forge, bot: try Samples.name("kit"),
                        headers: [
                            "content-encoding": "gzip", "x-gitee-token": "a secret", "x-gitee-event": "Push Hook",
                        ], body: body)
                    try await expectRefused(delivery, core, intake, "\(forge)")
                    // Even signed it is not a delivery of this forge, and is never unpacked.
                    let proof = ForgeSample.proof(forge, body)
                    delivery.headers[proof.name] = proof.value
                    delivery.headers[forge.eventHeaders[0]] = ForgeSample.word(forge)
                    await expectRejection(OperationError.self, \.code, .invalid) { try await intake.receive(delivery) }
                }
            }
            #expect(try await core.store.deliveries().items.isEmpty)
        }
    }

    @Test func testThatATooLargeBodyIsRefusedUnread() async throws {
        try await withBots { core, intake in
            var delivery = try ForgeSample.delivery(.github)
            delivery.body = WebhookBody([UInt8](repeating: 0x20, count: PushRequest.maximumBodyBytes + 1))
            await expectRejection(OperationError.self, \.code, .tooLarge) { try await intake.receive(delivery) }
        }
    }

    /// The scan decides, in whatever order the deliveries of pushes arrive.
    @Test func testW7ThatAnOlderPushThatComesLaterChangesNothing() async throws {
        try await withBots { core, intake in
            let (older, newer) = (try Samples.commit(1), try Samples.commit(2))
            let main = RefName(branch: "main")
            func deliver(_ after: CommitID, before: String, id: String) async throws {
                let body = ForgeSample.push(.github, before: before, after: after.description)
                _ = try await intake.receive(try ForgeSample.delivery(.github, body, id: id))
            }
            func scan() async throws -> [IntegrationID] {
                let request = try #require(
                    try await core.store.repositoriesToScan().first { $0.repository == core.repository() })
                let watcher = Watcher(
                    bot: try Samples.name("kit"), patterns: "main", watches: { $0 == main }, isRelease: { _ in false },
                    supersede: { _ in .queued })
                return try await core.store.apply(
                    RefScan(
                        request: request, heads: [main: newer], defaultBranch: main, at: core.time.now, cause: .push,
                        watchers: [watcher])
                ).integrations
            }
            try await deliver(newer, before: older.description, id: "B")
            try await deliver(older, before: ForgeSample.zero, id: "A")
            let first = try await scan()
            #expect(first.count == 1)
            #expect(try await core.store.integration(try #require(first.first))?.commit == newer)
            try await deliver(older, before: ForgeSample.zero, id: "A again")
            #expect(try await scan().isEmpty)
            let outcomes = try await core.store.deliveries().items.map(\.outcome)
            #expect(outcomes.filter { $0 == .superseded || $0 == .coalesced }.count == 2, "\(outcomes)")
            #expect(try await core.store.heads(of: core.repository()) == [main: newer])
        }
    }

    @Test func testThatAPullRequestIsAHintWhoseOutcomeSaysSo() async throws {
        try await withBots { core, intake in
            let before = try #require(try await core.sequence())
            let body = #"{"action":"synchronize","pull_request":{},"repository":{"full_name":"acme/kit"}}"#
            _ = try await intake.receive(try ForgeSample.delivery(.github, body, event: "pull_request"))
            #expect(try await core.sequence() == before + 1)
            let request = try #require(
                try await core.store.repositoriesToScan().first { $0.repository == core.repository() })
            _ = try await core.store.apply(
                RefScan(
                    request: request, heads: [:], defaultBranch: nil, at: core.time.now, cause: .poll, watchers: []))
            let stored = try #require(try await core.store.deliveries().items.first)
            #expect(stored.outcome == .ignored)
            #expect(stored.reason == "pull request updated; no ref had moved")
        }
    }
}
