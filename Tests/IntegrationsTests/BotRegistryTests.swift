import Archives
import Basics
import BotSupport
import Encodings
import Foundation
import Glibc
import Model
import Settings
import TestSupport
import Testing

@testable import Forges
@testable import Integrations
@testable import Jobs

@Suite struct BotRegistryTests {
    private static let secret = "It's a Secret to Everybody"
    fileprivate static let now = Timestamp(secondsSinceEpoch: 1_772_366_400)

    /// Runs a test with a registry with the bots `kit` (signed by `value`), `open` (no secret) and `lost` (a secret that is not set).
    private func withRegistry(
        secret: String = BotRegistryTests.secret, _ body: (BotRegistry, TemporaryDirectory) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            try directory.write("bots/kit.yml", "repository: /kit.git\nwebhook: { secret: kit-webhook }\n")
            try directory.write("bots/open.yml", "repository: /open.git\n")
            try directory.write("bots/lost.yml", "repository: /lost.git\nwebhook: { secret: lost-webhook }\n")
            let secrets = SecretStore(directory: directory.path("secrets"), credentialsDirectory: nil)
            try secrets.set("kit-webhook", secret)
            let settings = ServiceSettings(
                url: "https://ci.example", state: directory.path, bots: directory.path("bots"), concurrency: 1)
            let registry = BotRegistry(
                directory: BotDirectory(directory: settings.bots), settings: settings, secrets: secrets,
                isolation: .sandbox, version: "test")
            await registry.reload()
            try await body(registry, directory)
        }
    }

    private static func signature(_ body: [UInt8], _ secret: String = secret) -> String {
        "sha256=" + Hexadecimal.encode(Digest.hmacSHA256(key: Array(secret.utf8), message: body))
    }

    private func push(_ signature: String?, _ body: [UInt8], bot: String = "kit") throws -> PushRequest {
        PushRequest(bot: try Samples.name(bot), signature: signature, delivery: "1", body: WebhookBody(body))
    }

    @Suite struct WhenItVerifies {
        private let outer = BotRegistryTests()
        private static let body = Array("Hello, World!".utf8)

        /// GitHub's published example ("Validating webhook deliveries").
        @Test(.proves(.intake, "Signed `POST /webhooks/push/{bot}`, stored before it is accepted"))
        func testThatItTakesThePublishedExample() async throws {
            try await outer.withRegistry { registry, _ in
                let push = try outer.push(
                    "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17", Self.body)
                #expect(try await registry.verifies(push, at: BotRegistryTests.now)?.name.description == "kit")
            }
        }

        @Test(
            .proves(.badInput, "A wrong or missing signature is refused"),
            arguments: [
                nil, "", "sha256=", "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
                // One hexadecimal digit is wrong, at either end.
                "sha256=857107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
                "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e16",
                // Truncated, too long, other prefixes and alphabets.
                "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e1",
                "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e",
                "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e1700",
                "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17 ",
                " sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
                "sha1=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
                "SHA256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
                "sha256:757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
                "sha256=g57107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
                "sha256=\u{FF17}57107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e1",
            ])
        func testThatItRefuses(signature: String?) async throws {
            try await outer.withRegistry { registry, _ in
                let verified = try await registry.verifies(
                    try outer.push(signature, Self.body), at: BotRegistryTests.now)
                #expect(verified == nil)
            }
        }

        @Test(arguments: ["Hello, World", "Hello, World!\n", "", "hello, World!"])
        func testThatItRefusesAnotherBody(body: String) async throws {
            try await outer.withRegistry { registry, _ in
                let verified = try await registry.verifies(
                    try outer.push(signature(Self.body), Array(body.utf8)), at: BotRegistryTests.now)
                #expect(verified == nil)
            }
        }

        @Test func testThatItRefusesAnotherSecret() async throws {
            try await outer.withRegistry { registry, _ in
                let signature = signature(Self.body, secret + " ")
                let verified = try await registry.verifies(
                    try outer.push(signature, Self.body), at: BotRegistryTests.now)
                #expect(verified == nil)
            }
        }

        /// A signature by an empty key must not distinguish an unknown bot, one without a secret, and one whose secret is not set.
        @Test(arguments: ["open", "lost", "nobody"])
        func testThatABotWithoutASecretTakesNothing(bot: String) async throws {
            try await outer.withRegistry { registry, _ in
                for key in ["", secret, "lost-webhook"] {
                    let push = try outer.push(signature(Self.body, key), Self.body, bot: bot)
                    #expect(try await registry.verifies(push, at: BotRegistryTests.now) == nil)
                }
            }
        }

        @Test(
            .proves(
                .operating,
                "After `martlet secret rotate`, webhooks may be signed with the value before until the overlap ends"))
        func testThatItTakesTheValueBeforeUntilTheOverlapEnds() async throws {
            try await outer.withRegistry { registry, directory in
                // given
                let secrets = SecretStore(directory: directory.path("secrets"), credentialsDirectory: nil)
                let end = BotRegistryTests.now + .seconds(3600)
                // when
                try secrets.rotate("kit-webhook", "new", acceptingPreviousUntil: end)
                // then
                let (old, new) = (signature(Self.body), signature(Self.body, "new"))
                let moments = [(BotRegistryTests.now, old), (BotRegistryTests.now, new), (end, old), (end, new)]
                var taken: [Bool] = []
                for (moment, signature) in moments {
                    taken.append(try await registry.verifies(try outer.push(signature, Self.body), at: moment) != nil)
                }
                #expect(taken == [true, true, false, true])
            }
        }

        @Test func testThatAnEmptySecretTakesNothing() async throws {
            try await outer.withRegistry { registry, directory in
                // given
                try directory.write("secrets/kit-webhook", "", mode: 0o600)

                // when, then
                let verified = try await registry.verifies(
                    try outer.push(signature(Self.body, ""), Self.body), at: BotRegistryTests.now)
                #expect(verified == nil)
            }
        }

        @Test func testThatASecretThatOthersMayReadTakesNothing() async throws {
            try await outer.withRegistry { registry, directory in
                // given
                try directory.write("secrets/kit-webhook", secret, mode: 0o644)

                // when, then
                let verified = try await registry.verifies(
                    try outer.push(signature(Self.body), Self.body), at: BotRegistryTests.now)
                #expect(verified == nil)
            }
        }

        @Test func testThatItTakesAnEmptyBodyAndAMegabyte() async throws {
            try await outer.withRegistry { registry, _ in
                for body in [[], [UInt8](repeating: 0xFF, count: 1 << 20)] {
                    let verified = try await registry.verifies(
                        try outer.push(signature(body), body), at: BotRegistryTests.now)
                    #expect(verified != nil)
                }
            }
        }

        @Test(.corpus) func testThatItAgreesWithPublishedVectors() async throws {
            // given
            struct Vectors: Decodable {
                struct Vector: Decodable {
                    var name: String
                    var secret: String
                    var header: [String: String]
                    var algorithm: String
                    var valid: Bool
                    var text: String?
                    var file: String?

                    enum CodingKeys: String, CodingKey {
                        case name, secret, header, algorithm, valid
                        case text = "body_utf8"
                        case file = "body_file"
                    }
                }
                var vectors: [Vector]
            }
            let bytes = try Corpus.file("signatures/webhook-signatures.json").bytes()
            let vectors = try JSONDecoder().decode(Vectors.self, from: Data(bytes)).vectors
            var count = 0
            for vector in vectors where vector.algorithm == "HMAC-SHA256" {
                guard let value = vector.header.first(where: { $0.value.hasPrefix("sha256=") })?.value else { continue }
                // Some bodies are too large for the corpus.
                guard let body = vector.text.map({ Array($0.utf8) }) ?? (try? Corpus.file(vector.file ?? "").bytes())
                else { continue }
                count += 1

                try await outer.withRegistry(secret: vector.secret) { registry, _ in
                    // when
                    let verified = try await registry.verifies(try outer.push(value, body), at: BotRegistryTests.now)

                    // then
                    #expect((verified != nil) == vector.valid, "\(vector.name)")
                }
            }
            #expect(count >= 2, "the vectors are there")
        }
    }

    @Test func testThatBotsAreToBeStoredOnceAndWhenOneChanges() async throws {
        try await withRegistry { registry, directory in
            // given
            let first = try #require(await registry.unregistered())
            #expect(first.count == 3)
            await registry.markRegistered(first)
            await registry.reload()
            #expect(await registry.unregistered() == nil)

            // when
            try directory.write("bots/kit.yml", "repository: /other.git\n")
            await registry.reload()

            // then
            #expect(await registry.unregistered()?.count == 3)
            #expect(await registry.bots(of: "/other.git").count == 1)
            #expect(await registry.bots(of: "/kit.git").isEmpty)
        }
    }

    /// Of two bots that claim one package, the second gets it when the first is removed, although no file is read for that.
    @Test(
        .proves(
            .releases,
            "Registry: A package belongs to one product. Another one's is an error before publishing; the owner keeps it, whatever a new file is called"
        ))
    func testThatARemovedFileMakesRoomForTheOther() async throws {
        try await withTemporaryDirectory { directory in
            // given: files that are old enough to be trusted
            for name in ["akit", "kit"] {
                let file = try directory.write(
                    "bots/\(name).yml",
                    """
                    repository: /\(name).git
                    triggers:
                      - { name: p, branches: ["release/*"], publish: { version: branch, registry: acme.kit } }

                    """)
                var times = [timespec(tv_sec: 1_700_000_000, tv_nsec: 0), timespec(tv_sec: 1_700_000_000, tv_nsec: 0)]
                #expect(utimensat(AT_FDCWD, file, &times, 0) == 0)
            }
            let registry = BotRegistry(
                directory: BotDirectory(directory: directory.path("bots")),
                settings: ServiceSettings(
                    url: "https://ci.example", state: directory.path, bots: directory.path("bots"), concurrency: 1),
                secrets: SecretStore(directory: directory.path("secrets"), credentialsDirectory: nil),
                isolation: .sandbox, version: "test")
            await registry.reload()
            #expect(await registry.all().map(\.name.description) == ["akit"])
            #expect(await registry.overview().problems.count == 1)
            // when
            #expect(unlink(directory.path("bots/akit.yml")) == 0)
            await registry.reload()
            // then
            #expect(await registry.all().map(\.name.description) == ["kit"])
            #expect(await registry.overview().problems.isEmpty)
        }
    }

    @Test(.proves(.settings, "An invalid file keeps its last good form, also over a restart, and shows its error"))
    func testThatAnInvalidFileKeepsTheBotAndShowsTheLine() async throws {
        try await withRegistry { registry, directory in
            // given
            try directory.write("bots/kit.yml", "repository: /kit.git\nbranchs: [main]\n")

            // when
            await registry.reload()

            // then
            let overview = await registry.overview()
            #expect(overview.bots.count == 3)
            expectContains(overview.problems.joined(separator: "\n"), "kit.yml:2:1: error")
            expectContains(overview.problems.joined(separator: "\n"), "branches")
        }
    }

    @Test func testThatInstructionsNameTheURLAndTheSecretButNotItsValue() async throws {
        try await withRegistry { registry, _ in
            // when
            let text = try await registry.webhookInstructions(try Samples.name("kit"), forge: .push)

            // then
            #expect(text.hasPrefix("https://ci.example/webhooks/push/kit\n"))
            expectContains(text, "kit-webhook")
            #expect(!text.contains(Self.secret))
            await expectRejection(OperationError.self, \.code, .invalid) {
                try await registry.webhookInstructions(try Samples.name("open"), forge: .push)
            }
            await expectRejection(OperationError.self, \.code, .notFound) {
                try await registry.webhookInstructions(try Samples.name("nobody"), forge: .push)
            }
        }
    }
}
