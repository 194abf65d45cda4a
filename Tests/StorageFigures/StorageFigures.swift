import Foundation
import GRDB
import Model
import Storage

/// Fills a store as the daemon does, and then queries it.
struct StorageFigures {
    private static let bot = Name(nearest: "kit")
    private let path: String
    private let store: Store
    private let history: SampleHistory
    private let clock = ContinuousClock()

    init(path: String, history: SampleHistory) async throws {
        self.path = path
        self.history = history
        store = try Store.open(path: path)
        try await store.register(
            [BotSpecification(name: Self.bot, repository: "https://git.example/kit.git")],
            at: Timestamp(secondsSinceEpoch: 1_700_000_000))
    }

    func run(integrations: Int, limit: Duration) async throws {
        let commit = try await commits()
        Figures.say("a durable commit", commit)
        var history = history
        let probe = DiskProbe(path: path + "-probe")
        var stored: [Duration] = []
        let begin = clock.now
        // The integrations that an earlier run stored in the same file.
        let first =
            try await store.integrations(IntegrationFilter(bot: Self.bot), limit: 1, before: nil).items.first?.id.number
            ?? 0
        for _ in 0..<first { history.advance() }
        for number in (first + 1)...max(integrations, first + 1) {
            history.advance()
            let results = (0..<history.configurations).map { history.results(in: $0) }
            stored.append(try await integrate(number, results))
            for _ in 0..<10 { probe.write() }
            if Self.points.contains(number) { try point(stored, number) }
            if clock.now - begin > limit { break }
        }
        let count = first + stored.count
        print(
            "figure  \(count) of \(integrations) integrations of \(history.configurations) × \(history.count) tests, "
                + "\(count * history.configurations * history.count) results")
        Figures.say("an integration stored, the first", [stored[0]], beside: commit)
        Figures.say("an integration stored", Array(stored.dropFirst()), goal: .seconds(1), beside: commit)
        Figures.say("the disk: 4 KiB and fdatasync, \(probe.taken.count) times", probe.taken)
        print("figure  of those over 5 ms: \(probe.taken.count { $0 > .milliseconds(5) })")
        let writer = store.writerFigures()
        Figures.say(
            "the longest transaction of \(writer.transactions)", [writer.longest], beside: commit)
        print(
            "figure  held p50 \(Figures.text(writer.held(0.5))) p95 \(Figures.text(writer.held(0.95))) "
                + "p99 \(Figures.text(writer.held(0.99))) p99.9 \(Figures.text(writer.held(0.999))); over 5 ms: \(writer.long), "
                + "by their commit alone \(writer.longCommits), of which the longest \(Figures.text(writer.longestCommit))"
        )
        try await answers(&history, count, beside: commit)
        try store.close()
        try sizes(results: count * history.configurations * history.count)
    }

    /// The numbers of integrations after which it prints the time, to show what grows with their number.
    private static let points: Set<Int> = [125, 250, 500, 1000, 2000, 3000, 4000]

    private func point(_ stored: [Duration], _ number: Int) throws {
        let half = Array(stored.suffix(min(number, stored.count) / 2))
        Figures.say("an integration stored, the last \(half.count) of \(number)", half)
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        print("figure  size \(Figures.bytes(size)) after \(number)")
    }

    /// Returns the durations of the least write.
    private func commits() async throws -> [Duration] {
        var taken: [Duration] = []
        for _ in 0..<200 {
            taken.append(try await clock.measure { try await store.requestScan(at: "https://git.example/kit.git") })
        }
        return taken
    }

    /// - Returns: The duration of storing attempts that end one after the other, with the issues and the end.
    private func integrate(_ number: Int, _ results: [[TestResult]]) async throws -> Duration {
        let at = Timestamp(secondsSinceEpoch: 1_700_000_000 + Int64(number) * 600)
        guard let commit = CommitID(String(repeating: "0", count: 32) + String(10_000_000 + number)) else {
            return .zero
        }
        let id = try await store.queue(
            NewIntegration(bot: Self.bot, ref: RefName(branch: "main"), commit: commit, cause: .push), at: at
        ).id
        try await store.apply(.started, to: id, at: at)
        var attempts: [AttemptID] = []
        for configuration in results.indices {
            attempts.append(
                try await store.addAttempt(to: id, job: Name(nearest: "configuration-\(configuration)"), at: at).id)
        }
        var issues: [String: Model.Issue] = [:]
        return try await clock.measure {
            for (attempt, tests) in zip(attempts, results) {
                let findings = tests.filter(\.outcome.isFailure).map { test in
                    StoredFinding(
                        fingerprint: test.fullName, content: test.fullName,
                        finding: Finding(
                            category: .testFailure, message: test.message ?? "", rule: test.fullName, path: test.path,
                            line: test.line))
                }
                for finding in findings {
                    issues[
                        finding.fingerprint,
                        default: Issue(
                            fingerprint: finding.fingerprint, status: .new, finding: finding.finding, age: 1,
                            configurations: [])
                    ].configurations.append(attempt.job)
                }
                try await store.storeResults(
                    AttemptResults(
                        findings: findings, tests: tests, analysis: "clean", tested: "\(tests.count) tests",
                        verdict: findings.isEmpty ? .succeeded : .testFailures), of: attempt, at: at)
            }
            try await store.completeIssues(
                of: id, issues: issues.values.sorted { $0.fingerprint < $1.fingerprint }, summary: Summary(), at: at,
                with: .completed(.testFailures, triggerFailed: false))
        }
    }

    private func answers(_ history: inout SampleHistory, _ count: Int, beside baseline: [Duration]) async throws {
        let bot = Self.bot
        func ask(_ what: String, _ body: (IntegrationID, Int) async throws -> Void) async throws {
            var taken: [Duration] = []
            for round in 0..<100 {
                let id = IntegrationID(bot: bot, number: round * 7919 % count + 1)
                taken.append(try await clock.measure { try await body(id, round) })
            }
            Figures.say("answer: \(what)", taken, goal: .milliseconds(50), beside: baseline)
        }
        try await ask("1,000 tests of an integration") { id, _ in _ = try await store.testPage(of: id, limit: 1000) }
        try await ask("1,000 tests, from the middle on") { id, _ in
            _ = try await store.testPage(of: id, limit: 1000, after: history.count * 2)
        }
        try await ask("the failing tests") { id, _ in _ = try await store.tests(of: id, failingOnly: true) }
        try await ask("the grid, not passed everywhere") { id, _ in _ = try await store.testGrid(of: id) }
        try await ask("the grid, 1,000 of all") { id, _ in _ = try await store.testGrid(of: id, all: true) }
        var names: [String] = []
        for _ in 0..<100 { names.append(history.someName()) }
        try await ask("a test's life, 50 integrations") { _, round in
            _ = try await store.testHistory(of: names[round], bot: bot)
        }
        try await ask("a test's life, 200 integrations") { _, round in
            _ = try await store.testHistory(of: names[round], bot: bot, limit: 200)
        }
        let failing = try await store.tests(of: IntegrationID(bot: bot, number: count), failingOnly: true)
        try await ask("its last failures") { _, round in
            guard let test = failing.isEmpty ? nil : failing[round % failing.count].result.fullName else { return }
            _ = try await store.lastFailures(of: test, bot: bot)
        }
        try await ask("the flaky tests of 100 integrations") { _, _ in _ = try await store.flakyTests(of: bot) }
        try await ask("tests by a part of their name") { _, round in
            _ = try await store.namedTests(of: bot, containing: "Number\(round)", limit: 100)
        }
        try await ask("the issues") { id, _ in _ = try await store.issues(of: id) }
        try await ask("an integration with its attempts") { id, _ in
            _ = try await store.integration(id)
            _ = try await store.attempts(of: id)
        }
        try await ask("50 integrations") { id, _ in
            _ = try await store.integrations(IntegrationFilter(bot: bot), limit: 50, before: Int64(id.number) + 1)
        }
        // This is no answer to a client: each integration asks it once, when it is compared with the one before.
        try await ask("which failures of before ran again") { id, _ in
            guard id.number > 1 else { return }
            let before = try await store.issues(of: IntegrationID(bot: bot, number: id.number - 1))
            _ = try await store.testsRun(of: id, named: Set(before.map(\.finding.rule)))
        }
    }

    /// Prints the size of each table with its indexes.
    private func sizes(results: Int) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.read { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT tbl_name, sum(pgsize) AS size FROM dbstat JOIN sqlite_master AS made ON made.name = dbstat.name
                    GROUP BY tbl_name ORDER BY size DESC LIMIT 8
                    """)
            let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            let size = pages * (try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 0)
            print(
                "figure  size \(Figures.bytes(size)), \(Figures.hundredths(Double(size) / Double(results))) bytes a result"
            )
            for row in rows { print("figure  size of \(row["tbl_name"] as String): \(Figures.bytes(row["size"]))") }
        }
        try queue.close()
    }
}
