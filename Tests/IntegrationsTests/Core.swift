import Archives
import Basics
import BotSupport
import Encodings
import Model
import Settings
import SourceControl
import Storage
import TestSupport
import Testing

@testable import Forges
@testable import Integrations
@testable import Jobs

/// The deciding parts without the service around them: a store, bots by their files, mirrors, and a clock that the test sets.
struct Core: Sendable {
    let directory: TemporaryDirectory
    let store: Store
    let registry: BotRegistry
    let secrets: SecretStore
    let remotes: Remotes
    let log: RecordingLogger
    let time = TestTime()
    let timer = ManualClock()

    /// The bot file of `kit`.
    static let kit = "webhook: { secret: kit-webhook }\n"

    /// - Parameter bots: Lines of bot files beside `repository:`, which is `DIRECTORY/NAME.git`, by name.
    init(_ directory: TemporaryDirectory, bots: [String: String], log: RecordingLogger) async throws {
        self.directory = directory
        self.log = log
        for (name, lines) in bots {
            try directory.write("bots/\(name).yml", "repository: \(directory.path("\(name).git"))\n\(lines)")
        }
        try directory.makeDirectory("bots")
        secrets = SecretStore(directory: directory.path("secrets"), credentialsDirectory: nil)
        try secrets.set("kit-webhook", "a secret")
        store = try Store.open(path: directory.path("martlet.sqlite"))
        let settings = ServiceSettings(state: directory.path, bots: directory.path("bots"), concurrency: 1)
        registry = BotRegistry(
            directory: BotDirectory(directory: settings.bots), settings: settings, secrets: secrets,
            isolation: .none(reason: "of the test"), version: "test")
        remotes = Remotes(
            mirrors: Mirrors(directory: directory.path("repositories"), configuration: GitConfiguration(files: [])),
            secrets: secrets)
        await registry.reload()
        try await store.register(await registry.all(), at: time.now)
    }

    func repository(_ bot: String = "kit") -> String { directory.path("\(bot).git") }

    /// Returns the number of requests for looks at the repository.
    func sequence(_ bot: String = "kit") async throws -> Int64? {
        try await store.repositoriesToScan().first { $0.repository == repository(bot) }?.sequence
    }

    func push(
        _ body: String = #"{"updates":[]}"#, delivery: String? = "1", secret: String = "a secret"
    ) throws -> PushRequest {
        let bytes = Array(body.utf8)
        return PushRequest(
            bot: try Samples.name("kit"),
            signature: "sha256=" + Hexadecimal.encode(Digest.hmacSHA256(key: Array(secret.utf8), message: bytes)),
            delivery: delivery, body: WebhookBody(bytes))
    }

    /// Changes the database as another program does.
    func sql(_ statement: String) async throws {
        try await SQLProgram.run(statement, at: directory.path("martlet.sqlite"))
    }

    /// Waits until something is stored.
    func wait(_ what: String, until condition: () async throws -> Bool) async throws {
        let changes = store.changes()
        if try await condition() { return }
        for await _ in changes where try await condition() { return }
        Issue.record("\(what) did not come to be before the store was closed")
    }
}

/// Runs a test with the parts, and fails it for unexpected log lines.
func withCore(
    bots: [String: String] = ["kit": Core.kit], sourceLocation: SourceLocation = #_sourceLocation,
    _ body: (Core) async throws -> Void
) async throws {
    try await withTemporaryDirectory(sourceLocation: sourceLocation) { directory in
        let core = try await Core(directory, bots: bots, log: RecordingLogger(sourceLocation: sourceLocation))
        do {
            try await body(core)
        } catch {
            try core.store.close()
            throw error
        }
        try core.store.close()
    }
}
