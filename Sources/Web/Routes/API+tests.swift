import API
import Model
import Storage

extension API.TestCase {
    init(_ test: StoredTest) {
        let result = test.result
        self.init(
            suite: result.suite, name: result.name, configuration: test.configuration.description,
            outcome: result.outcome.rawValue, duration: result.duration?.seconds, message: result.message,
            path: result.path, line: result.line)
    }
}

extension API.TestOutcomes {
    /// - Parameter configurations: The names of the configurations, one for each outcome.
    init(_ spread: TestSpread, _ configurations: [Name]) {
        self.init(
            suite: spread.suite, name: spread.name,
            outcomes: API.ByName(
                zip(configurations, spread.outcomes).map { (name: $0.description, value: $1?.rawValue) }),
            says: spread.sentence(configurations))
    }
}

extension API.FlakyTests.Item {
    init(_ test: FlakyTest) {
        self.init(
            suite: test.suite, name: test.name, flaky: test.flaky, changes: test.changes,
            configurations: test.configurations.map(\.description), latest: test.latest.description)
    }
}

extension API.TestHistory {
    init(_ history: Storage.TestHistory, failures: [TestFailure]) {
        self.init(
            suite: history.suite, name: history.name, configurations: history.configurations.map { Column($0) },
            items: history.entries.map { Entry($0) }, failures: failures.map { Failure($0) },
            next: history.next.map(String.init))
    }
}

extension API.TestHistory.Column {
    init(_ configuration: Storage.TestHistory.Configuration) {
        self.init(
            name: configuration.name.description, outcome: configuration.latest.outcome.rawValue,
            integration: configuration.latest.integration.description, failing: configuration.failing,
            durations: configuration.durations.map { API.TestHistory.Durations($0) },
            outcomes: API.ByName(
                TestResult.Outcome.allCases.compactMap { outcome in
                    configuration.outcomes[outcome].map { (name: outcome.rawValue, value: $0) }
                }))
    }
}

extension API.TestHistory.Durations {
    init(_ figures: DurationFigures) {
        self.init(
            count: figures.count, median: figures.median.seconds, p95: figures.p95.seconds, trend: figures.trend)
    }
}

extension API.TestHistory.Entry {
    init(_ entry: Storage.TestHistory.Entry) {
        self.init(
            integration: entry.integration.description, ref: entry.ref.description, commit: entry.commit.description,
            ended: API.Time(entry.at), configuration: entry.configuration.description, attempt: entry.attempt,
            outcome: entry.outcome.rawValue, duration: entry.duration?.seconds, message: entry.message)
    }
}

extension API.TestHistory.Failure {
    init(_ failure: TestFailure) {
        let result = failure.result
        self.init(
            integration: failure.integration.description, ref: failure.ref.description,
            commit: failure.commit.description, ended: API.Time(failure.at),
            configuration: failure.configuration.description, attempt: failure.attempt,
            outcome: result.outcome.rawValue, message: result.message, path: result.path, line: result.line)
    }
}

extension API.CoverageShare {
    init(_ share: Model.Coverage.Share) {
        self.init(covered: share.covered, total: share.total, percent: share.percent)
    }
}

extension API.Coverage {
    init(_ stored: StoredCoverage) {
        let (coverage, delta) = (stored.coverage, stored.delta)
        self.init(
            configuration: stored.attempt.job.description, attempt: stored.attempt.attempt,
            lines: API.CoverageShare(coverage.lines), functions: coverage.functions.map { API.CoverageShare($0) },
            branches: coverage.branches.map { API.CoverageShare($0) }, files: coverage.files.count,
            before: stored.before?.integration.description,
            linesBefore: delta.map { API.CoverageShare($0.before) }, change: delta?.points,
            changedFiles: delta?.files.count)
    }
}

extension API.FileCoverage {
    /// - Parameter before: The file's coverage of lines in the integration that this one is compared with.
    init(_ file: Model.Coverage.File, before: Model.Coverage.Share?) {
        self.init(
            path: file.path, lines: API.CoverageShare(file.lines),
            functions: file.functions.map { API.CoverageShare($0) },
            branches: file.branches.map { API.CoverageShare($0) }, linesBefore: before.map { API.CoverageShare($0) },
            change: CoverageDelta.File(path: file.path, before: before, after: file.lines).points)
    }
}
