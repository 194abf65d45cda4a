import API
import Foundation
import Model
import Settings
import Storage
import TestSupport
import Testing

@testable import Web

/// `martlet secret …`, the interface's list, and the bot's page.
@Suite struct SecretCommandTests {
    private static let bot =
        """
        repository: https://git.example/acme/kit.git
        webhook: { secret: hook }
        secrets:
          - { name: token, branches: [main] }
        """

    private func withBot(_ body: @Sendable (WebFixture, SecretStore) async throws -> Void) async throws {
        try await withWeb(bots: ["kit": Self.bot]) { web in
            let store = SecretStore(directory: web.directory.path("secrets"), credentialsDirectory: nil)
            try store.set("hook", "old-value")
            try store.set("token", "token-value")
            try web.directory.write("martlet.yml", "state: \(web.directory.path)\nsecrets: secrets\nbots: bots\n")
            try await body(web, store)
        }
    }

    private func secret(_ web: WebFixture, _ words: String..., input: String = "") async throws -> ProgramResult {
        try await run(
            [try TestTools.builtProduct("martlet"), "secret"] + words
                + ["--settings", web.directory.path("martlet.yml")], input: input)
    }

    /// Returns what the audit has of secrets, the oldest first. It also has that the bot file was taken up.
    private static func audit(_ web: WebFixture) async throws -> [AuditEntry] {
        try await web.store.audit().items.reversed().map(\.entry).filter { $0.action != .botFile }
    }

    @Test(
        .proves(
            .operating,
            "`martlet secret list` has the names of secrets, when each changed, and the settings, bots and steps that use it; never a value"
        ))
    func testThatTheServiceListsNamesAndUsesToAdminsAlone() async throws {
        try await withBot { web, _ in
            // given
            let record = try await SampleContent(web: web).integrate(
                0, ref: "main", failing: [], warnings: 0, before: nil, secrets: ["token", "other"])
            // when
            let result = try await secret(web, "list")
            // then
            #expect(result.status == 0, "\(result.stderr)")
            let lines = result.stdout.split(separator: "\n")
            #expect(lines.count == 3, "\(result.stdout)")
            expectContains(result.stdout, "the webhook of kit")
            expectContains(result.stdout, "jobs of kit, the step `deploy` of `debug` of kit")
            #expect(!result.stdout.contains("-value") && !result.stdout.contains("other"))
            #expect(result.stderr == "", "\(record.id)")
            try await web.expect(401, "GET", "/api/v1/secrets")
            try await web.expect(403, "GET", "/api/v1/secrets", as: .operator)
            let json = try await web.json("/api/v1/secrets", as: .admin)
            expectContains(json, #""name":"hook","state":"stored","changed":"20"#)
            #expect(!json.contains("-value"))
        }
    }

    @Test(
        .proves(
            .operating,
            "`martlet secret remove` refuses a secret that is used, names its uses, and removes it with `--force`"))
    func testThatAUsedSecretIsRemovedOnlyByForce() async throws {
        try await withBot { web, store in
            // when
            let refused = try await secret(web, "remove", "hook")
            // then
            #expect(refused.status == 1)
            expectContains(refused.stderr, "the webhook of kit")
            expectContains(refused.stderr, "--force")
            #expect(try store.value("hook") == "old-value")
            // when
            let removed = try await secret(web, "remove", "hook", "--force")
            // then
            #expect(removed.status == 0, "\(removed.stderr)")
            #expect(try store.value("hook") == nil)
            #expect(try await Self.audit(web).map(\.action) == [.secretRemoved])
            #expect(try await secret(web, "remove", "hook", "--force").status == 66)
        }
    }

    @Test func testThatWithoutTheServiceABotFileWithErrorsKeepsEverySecret() async throws {
        try await withTemporaryDirectory { directory in
            // given
            let store = SecretStore(directory: directory.path("secrets"), credentialsDirectory: nil)
            try store.set("hook", "value")
            try directory.write("bots/kit.yml", "repository: [\n")
            let settings = try directory.write(
                "martlet.yml", "state: \(directory.path)\nsecrets: secrets\nbots: bots\n")
            let martlet = try TestTools.builtProduct("martlet")
            // when
            let refused = try await run([martlet, "secret", "remove", "hook", "--settings", settings])
            let listed = try await run([martlet, "secret", "list", "--settings", settings])
            // then
            #expect(refused.status == 1)
            expectContains(refused.stderr, "kit.yml")
            #expect(try store.value("hook") == "value")
            #expect(listed.status == 0)
            expectContains(listed.stdout, "no known use")
            expectContains(listed.stderr, "the service could not be asked")
        }
    }

    @Test(
        .proves(
            .operating,
            "After `martlet secret rotate`, webhooks may be signed with the value before until the overlap ends"))
    func testThatARotationHasAnOverlapForWebhooksAndIsInTheAudit() async throws {
        try await withBot { web, store in
            let now = WallClock.system.now()
            func accepted() throws -> [String] { try store.acceptedValues("hook", at: WallClock.system.now()) }
            // when
            let rotated = try await secret(web, "rotate", "hook", input: "new-value\n")
            // then
            #expect(rotated.status == 0, "\(rotated.stderr)")
            expectContains(rotated.stdout, "webhooks may use the value before until")
            #expect(try accepted() == ["new-value", "old-value"])
            let end = try #require(store.overlapEnd(of: "hook", at: now))
            #expect(end - now >= SecretStore.usualOverlap && end - now < SecretStore.usualOverlap * 2)
            // when
            let ended = try await secret(web, "rotate", "hook", "--end-overlap")
            let again = try await secret(web, "rotate", "hook", "--end-overlap")
            // then
            #expect(ended.status == 0, "\(ended.stderr)")
            #expect(again.status == 66)
            #expect(try accepted() == ["new-value"])
            // when
            let stolen = try await secret(web, "rotate", "hook", "--overlap", "0", input: "newest")
            // then
            #expect(stolen.status == 0, "\(stolen.stderr)")
            #expect(try accepted() == ["newest"])
            let rows = try await Self.audit(web)
            #expect(rows.map(\.action) == [.secretRotated, .secretOverlapEnded, .secretRotated])
            #expect(rows.map(\.detail) == ["the value before is accepted until \(end)", nil, nil])
            #expect(rows.allSatisfy { !($0.detail ?? "").contains("-value") })
        }
    }

    @Test(arguments: [
        ["--overlap", "31d"], ["--overlap", "-1h"], ["--overlap", "x"], ["--overlap", "1h", "--end-overlap"],
    ])
    func testThatAnOverlapIsBounded(words: [String]) async throws {
        try await withBot { web, store in
            let result = try await run(
                [try TestTools.builtProduct("martlet"), "secret", "rotate", "hook"] + words
                    + ["--settings", web.directory.path("martlet.yml")], input: "new")
            #expect(result.status == 64)
            #expect(try store.acceptedValues("hook", at: WallClock.system.now()) == ["old-value"])
        }
    }

    @Test func testThatASecretOfNoWebhookLeavesNoValueBehind() async throws {
        try await withBot { web, store in
            // when
            let refused = try await secret(web, "rotate", "token", "--overlap", "1h", input: "new")
            let rotated = try await secret(web, "rotate", "token", input: "new")
            // then
            #expect(refused.status == 64)
            expectContains(refused.stderr, "no webhook is known to be signed with it")
            #expect(rotated.status == 0, "\(rotated.stderr)")
            #expect(try store.value("token") == "new")
            let files = try FileManager.default.contentsOfDirectory(atPath: web.directory.path("secrets")).sorted()
            #expect(files == ["hook", "token"])
        }
    }

    @Test(.proves(.operating, "The bot's page says to operators until when the value before a rotation is accepted"))
    func testThatTheBotsPageShowsTheOverlapToOperators() async throws {
        try await withBot { web, store in
            // given
            try store.rotate("hook", "new-value", acceptingPreviousUntil: WebFixture.now + .seconds(3600))
            // then
            let page = try await web.send("GET", "/bots/kit", as: .operator)
            expectContains(page.text, "signed with the value before are accepted until")
            let read = try await web.send("GET", "/bots/kit", as: .viewer)
            #expect(read.status == 200 && !read.text.contains("signed with the value before"))
            expectContains(try await web.json("/api/v1/secrets", as: .admin), #""overlapEnds":"20"#)
        }
    }
}
