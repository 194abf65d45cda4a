import BotSupport
import Model
import Settings
import Storage
import TestSupport
import Testing

@testable import Forges
@testable import Integrations

/// `POST /webhooks/{forge}`: the secret limits the bots that can be meant, and the body chooses among them.
@Suite struct SharedHookTests {
    private func bot(_ name: String, _ repository: String, secret: String? = "kit-webhook") throws -> BotSpecification {
        var bot = BotSpecification(name: try Samples.name(name), repository: repository)
        bot.webhookSecret = secret
        return bot
    }

    private func withBots(
        _ files: [String: (repository: String, secret: String)], _ body: (Core, EventIntake) async throws -> Void
    ) async throws {
        try await withCore(bots: [:]) { core in
            for (name, file) in files {
                try core.directory.write(
                    "bots/\(name).yml", "repository: \(file.repository)\nwebhook: { secret: \(file.secret) }\n")
            }
            try core.secrets.set("other-webhook", "another secret")
            await core.registry.reload()
            try await core.store.register(await core.registry.all(), at: core.time.now)
            try await body(core, EventIntake(core))
        }
    }

    @Test(
        .proves(
            .intake, "`POST /webhooks/{forge}`: at most 64 secrets are tried, a match fixes the bots that can be meant"),
        arguments: ForgeSample.hosted)
    func testW9ThatTheBodyOnlyChoosesAmongBotsWithItsSecret(forge: Forge)
        async throws
    {
        let files = [
            "kit": ("https://git.example/acme/kit.git", "kit-webhook"),
            "tool": ("https://git.example/acme/tool.git", "kit-webhook"),
            "theirs": ("https://git.example/other/theirs.git", "other-webhook"),
        ]
        try await withBots(files) { core, intake in
            func receive(_ repository: String, id: String) async throws -> DeliveryRecord {
                let body = ForgeSample.push(forge, repository: repository)
                _ = try await intake.receive(try ForgeSample.delivery(forge, body, bot: nil, id: id))
                return try #require(try await core.store.deliveries().items.first)
            }
            let kit = try await receive("acme/kit", id: "1")
            #expect(kit.hook == forge.rawValue && kit.bot?.description == "kit" && kit.outcome == .pending)
            #expect(kit.repository == "https://git.example/acme/kit.git")
            #expect(try await receive("Acme/Tool", id: "2").bot?.description == "tool")

            // Another bot's repository with this secret, and one that no bot has.
            for (id, name) in [("3", "other/theirs"), ("4", "renamed/kit")] {
                let stored = try await receive(name, id: id)
                #expect(stored.outcome == .ignored && stored.bot == nil && stored.repository == nil)
                #expect(stored.reason == "no bot with this secret has the repository \(name)")
            }
            let theirs = try await core.store.repository("https://git.example/other/theirs.git")
            #expect(theirs?.hasAuthenticWebhook == false)
        }
    }

    /// The bot of the URL counts. A name in the body is never used as an address.
    @Test(
        .proves(.intake, "Bodies up to 26 MiB, over that 413; an event is a hint to scan, never the truth"),
        arguments: ForgeSample.hosted)
    func testW9ThatABotsOwnHookLooksAtItsOwnRepositoryAlone(forge: Forge)
        async throws
    {
        let files = [
            "kit": ("https://git.example/acme/kit.git", "kit-webhook"),
            "tool": ("https://git.example/acme/tool.git", "kit-webhook"),
        ]
        try await withBots(files) { core, intake in
            _ = try await intake.receive(
                try ForgeSample.delivery(forge, ForgeSample.push(forge, repository: "acme/tool"), bot: "kit"))
            let stored = try #require(try await core.store.deliveries().items.first)
            #expect(stored.repository == "https://git.example/acme/kit.git" && stored.bot?.description == "kit")
            #expect(try await core.store.repository("https://git.example/acme/tool.git")?.hasAuthenticWebhook == false)
        }
    }

    @Test(
        .proves(
            .intake, "`POST /webhooks/{forge}`: at most 64 secrets are tried, a match fixes the bots that can be meant")
    )
    func testThatBotsWithTwoAddressesOfOneRepositoryAreAllScanned() async throws {
        let files = [
            "kit": ("https://git.example/acme/kit.git", "kit-webhook"),
            "again": ("ssh://git@git.example/acme/kit.git", "kit-webhook"),
        ]
        try await withBots(files) { core, intake in
            let before = try await core.store.repositoriesToScan().map(\.sequence)
            _ = try await intake.receive(try ForgeSample.delivery(.github, bot: nil))
            #expect(try await core.store.repositoriesToScan().map(\.sequence) == before.map { $0 + 1 })
            #expect(try await core.store.deliveries().items.count == 1)
        }
    }

    @Test func testThatALocalPathIsFoundByOwnerAndName() throws {
        let bots = [try bot("kit", "/srv/git/acme/kit.git"), try bot("tool", "/srv/git/acme/tool.git")]
        let named = NamedRepository(urls: ["https://git.example/acme/kit"], path: "acme/kit")
        #expect(EventIntake.choose(bots, named).map(\.name.description) == ["kit"])
        // An address takes precedence over a name.
        let both = bots + [try bot("far", "https://git.example/acme/kit.git")]
        #expect(EventIntake.choose(both, named).map(\.name.description) == ["far"])
    }

    @Test func testThatBotsOfAnotherForgesPublicHostAreNotTried() async throws {
        let files = [
            "hub": ("https://github.com/acme/kit.git", "kit-webhook"),
            "lab": ("git@gitlab.com:acme/kit.git", "other-webhook"),
            "own": ("https://git.example/acme/kit.git", "kit-webhook"),
        ]
        try await withBots(files) { core, _ in
            func bots(_ forge: Forge) async -> [String] {
                await core.registry.hooks(of: forge, bot: nil).flatMap(\.bots).map(\.name.description).sorted()
            }
            #expect(await bots(.github) == ["hub", "own"])
            #expect(await bots(.gitlab) == ["lab", "own"])
            #expect(await bots(.gitea) == ["own"])
        }
    }

    @Test(
        .proves(
            .intake, "`POST /webhooks/{forge}`: at most 64 secrets are tried, a match fixes the bots that can be meant")
    )
    func testThatAtMost64SecretsAreTried() async throws {
        let files = Dictionary(
            uniqueKeysWithValues: (0..<80).map { ("bot-\($0)", ("https://git.example/acme/r\($0).git", "s\($0)")) })
        try await withBots(files) { core, _ in
            #expect(await core.registry.hooks(of: .github, bot: nil).count == 64)
            let last = try Samples.name("bot-79")
            #expect(await core.registry.hooks(of: .github, bot: last).count == 1)
        }
    }
}
