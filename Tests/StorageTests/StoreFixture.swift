import GRDB
import Model
import TestSupport
import Testing

@testable import Storage

/// A real store in a temporary directory, with one bot `kit` of one repository.
struct StoreFixture: Sendable {
    static let repository = "https://git.example/kit.git"
    let store: Store
    let path: String

    /// Returns the bot's watcher for a `RefScan`: the branches and tags that it watches.
    func watcher(
        _ bot: String = "kit", branches: [String] = ["main", "release/*"], tags: [String] = [],
        supersede: BotSpecification.Supersede = .never
    ) throws -> Watcher {
        let specification = BotSpecification(
            name: try name(bot), repository: Self.repository, branches: branches.map { RefPattern($0) },
            tags: tags.map { RefPattern($0) })
        return Watcher(
            bot: specification.name, patterns: "\(branches) \(tags)",
            watches: { specification.watches($0, defaultBranch: nil) },
            isRelease: { $0.branch?.hasPrefix("release/") ?? false }, supersede: { _ in supersede })
    }

    /// Looks as the event intake does: it takes the request, and then stores the refs.
    @discardableResult
    func scan(
        _ heads: [RefName: CommitID], cause: Cause = .push, watchers: [Watcher]? = nil, at seconds: Int64 = 100
    ) async throws -> ScanOutcome {
        try await store.requestScan(at: Self.repository)
        let request = try #require(try await store.repositoriesToScan().first { $0.repository == Self.repository })
        return try await store.apply(
            RefScan(
                request: request, heads: heads, defaultBranch: RefName(branch: "main"), at: time(seconds), cause: cause,
                watchers: try watchers ?? [watcher()]))
    }

    func push(
        _ claims: [RefClaim] = [], id: String? = nil, digest: String? = nil, outcome: EventOutcome = .pending
    ) async throws -> RecordedEvent {
        try await store.record(
            NewEvent(
                repository: Self.repository, bot: try name("kit"), source: .webhook, hook: "github/kit", deliveryID: id,
                bodyDigest: digest, event: "push", receivedAt: time(50), claims: claims, outcome: outcome))
    }

    func queue(_ number: Int = 1, ref: RefName = RefName(branch: "main")) async throws -> IntegrationRecord {
        try await store.queue(
            NewIntegration(bot: try name("kit"), ref: ref, commit: commit(number), cause: .person, requestedBy: "ann"),
            at: time(10))
    }

    /// Returns the damage that SQLite finds; empty if there is none.
    func damage() async throws -> [String] {
        try await store.read("check") { db in
            try String.fetchAll(db, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
                + Row.fetchAll(db, sql: "PRAGMA foreign_key_check").map(\.description)
        }
    }
}

extension Store {
    /// Publishes a version whose manifest has the reserved values.
    func publish(product: Name, version: SemanticVersion, files: [Artifact], at time: Timestamp) async throws {
        let row = try await versions(of: product).first { $0.version == version }
        try await publish(
            PublishedVersion(
                product: product, version: version,
                integration: row?.integration ?? IntegrationID(bot: product, number: 1), files: files,
                publishedAt: time, registry: row?.registry), at: time)
    }
}

/// Runs a test with a store with the bot `kit` (and others), and closes and removes it.
func withStore(_ bots: [String] = ["kit"], _ body: (StoreFixture) async throws -> Void) async throws {
    try await withStorePath { path in
        let store = try Store.open(path: path)
        let specifications = try bots.map {
            BotSpecification(name: try name($0), repository: StoreFixture.repository)
        }
        try await store.register(specifications, at: time(0))
        do {
            try await body(StoreFixture(store: store, path: path))
        } catch {
            try store.close()
            throw error
        }
        try store.close()
    }
}

/// Runs a test with the path of a database file that does not exist yet, in a directory that is removed afterwards.
func withStorePath(_ body: (String) async throws -> Void) async throws {
    try await withTemporaryDirectory { directory in try await body(directory.path("martlet.sqlite")) }
}

func name(_ text: String) throws -> Name { try #require(Name(text)) }

func time(_ seconds: Int64) -> Timestamp { Timestamp(secondsSinceEpoch: seconds) }

/// Returns the n-th commit: its number in 40 hexadecimal digits.
func commit(_ number: Int) throws -> CommitID {
    let digits = String(number, radix: 16)
    return try #require(CommitID(String(repeating: "0", count: 39 - digits.count) + "1" + digits))
}

func version(_ text: String) throws -> SemanticVersion { try #require(SemanticVersion(text)) }

extension RefName {
    static let main = RefName(branch: "main")
    static let line = RefName(branch: "release/1.4")
}

/// Expects a call to throw a `StoreError` with a code and a message that contains `text`.
func expectFailure<Value>(
    _ code: StoreError.Code, _ text: String = "", sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Value
) async {
    do {
        _ = try await body()
        Testing.Issue.record("nothing was thrown instead of \(code)", sourceLocation: sourceLocation)
    } catch let error as StoreError {
        #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
        #expect(text.isEmpty || error.description.contains(text), "\(error)", sourceLocation: sourceLocation)
    } catch {
        Testing.Issue.record("\(error) instead of a StoreError", sourceLocation: sourceLocation)
    }
}
