import GRDB
import Model
import Testing

@testable import Storage

/// Pull request 12 of `kit`, announced and looked at.
extension StoreFixture {
    static let place = RefName("refs/pull/12/head")

    static func claim(
        _ number: Int = 12, base: RefName = .main, isOpen: Bool = true, at seconds: Int64? = 100, head: Int = 7,
        _ change: PullRequestClaim.Change = .updated
    ) throws -> PullRequestClaim {
        let place = RefName("refs/pull/\(number)/head")
        return PullRequestClaim(
            number: number, ref: place, place: place, base: base, head: try commit(head), isOpen: isOpen,
            toldAt: seconds.map { time($0) }, change: change)
    }

    func tell(_ claim: PullRequestClaim, id: String, at seconds: Int64 = 50) async throws {
        _ = try await store.record(
            NewEvent(
                repository: Self.repository, bot: try name("kit"), source: .webhook, hook: "github/kit",
                deliveryID: id, event: "pull_request", receivedAt: time(seconds),
                claims: [RefClaim(ref: claim.ref, before: nil, after: claim.head)], pull: claim,
                reason: "pull request"))
    }

    func delivery(_ id: String) async throws -> DeliveryRecord {
        try #require(try await store.deliveries().items.first { $0.id == id })
    }

    /// Requires an approval for pull requests of forks only.
    static let askingForForks: @Sendable (SeenPullRequest) -> PullRequestAnswer = {
        $0.source == nil ? .awaitsApproval : .integrates
    }

    @discardableResult
    func scanPull(
        _ head: CommitID?, heads: [RefName: CommitID], judged: [Int: JudgedPull] = [:], at seconds: Int64 = 100,
        supersede: BotSpecification.Supersede = .running,
        answer: @escaping @Sendable (SeenPullRequest) -> PullRequestAnswer = { _ in .integrates }
    ) async throws -> ScanOutcome {
        try await store.requestScan(at: Self.repository)
        let request = try #require(try await store.repositoriesToScan().first)
        var watcher = try watcher(supersede: supersede)
        watcher.answer = answer
        let asked = Set(try await store.openPulls(of: Self.repository).map(\.place))
        return try await store.apply(
            RefScan(
                request: request, heads: heads, others: head.map { [Self.place: $0] } ?? [:], asked: asked,
                judged: judged, defaultBranch: .main, at: time(seconds), cause: .poll, watchers: [watcher]))
    }

    /// Returns the integrations of the pull request, oldest first.
    func ofPull(_ number: Int = 12) async throws -> [IntegrationOutline] {
        try await store.integrations(IntegrationFilter(ref: RefName(pullRequest: number))).items.reversed()
    }

    func openPull(_ number: Int = 12) async throws -> PullRequestRecord? {
        try await store.openPulls(of: Self.repository).first { $0.number == number }
    }

    func change(_ sql: String) async throws {
        try await store.writer.write("prepare the test") { try $0.db.execute(sql: sql) }
    }

    func count(_ table: String) async throws -> Int {
        try await store.read("count") { try $0.first("SELECT count(*) FROM \(table)") { try $0[0] } ?? -1 }
    }
}
