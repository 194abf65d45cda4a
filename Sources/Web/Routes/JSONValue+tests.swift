import Model
import Storage

extension JSONValue {
    /// Writes a test's outcomes by configuration.
    /// - Parameter configurations: The names of the configurations, one for each outcome.
    init(_ spread: TestSpread, _ configurations: [Name]) {
        self = [
            "suite": .string(spread.suite), "name": .string(spread.name),
            "outcomes": .object(
                zip(configurations, spread.outcomes).map { name, outcome in
                    Member(key: name.description, value: .init(outcome?.rawValue))
                }),
            "says": .string(spread.sentence(configurations)),
        ]
    }

    init(_ test: FlakyTest) {
        self = [
            "suite": .string(test.suite), "name": .string(test.name), "flaky": .integer(Int64(test.flaky)),
            "changes": .integer(Int64(test.changes)),
            "configurations": .array(test.configurations.map { .string($0.description) }),
            "latest": .string(test.latest.description),
        ]
    }

    init(_ figures: DurationFigures?) {
        guard let figures else {
            self = .null
            return
        }
        self = [
            "count": .integer(Int64(figures.count)), "median": .init(figures.median), "p95": .init(figures.p95),
            "trend": figures.trend.map { .number($0) } ?? .null,
        ]
    }

    init(_ history: TestHistory, failures: [TestFailure]) {
        self = [
            "suite": .string(history.suite), "name": .string(history.name),
            "configurations": .array(
                history.configurations.map { configuration in
                    [
                        "name": .string(configuration.name.description),
                        "outcome": .string(configuration.latest.outcome.rawValue),
                        "integration": .string(configuration.latest.integration.description),
                        "failing": .integer(Int64(configuration.failing)),
                        "durations": .init(configuration.durations),
                        "outcomes": .object(
                            TestResult.Outcome.allCases.compactMap { outcome in
                                configuration.outcomes[outcome].map {
                                    Member(key: outcome.rawValue, value: .integer(Int64($0)))
                                }
                            }),
                    ]
                }),
            "items": .array(
                history.entries.map { entry in
                    [
                        "integration": .string(entry.integration.description), "ref": .string(entry.ref.description),
                        "commit": .string(entry.commit.description), "ended": .init(entry.at),
                        "configuration": .string(entry.configuration.description),
                        "attempt": .integer(Int64(entry.attempt)), "outcome": .string(entry.outcome.rawValue),
                        "duration": .init(entry.duration), "message": .init(entry.message),
                    ]
                }),
            "failures": .array(
                failures.map { failure in
                    [
                        "integration": .string(failure.integration.description),
                        "ref": .string(failure.ref.description), "commit": .string(failure.commit.description),
                        "ended": .init(failure.at), "configuration": .string(failure.configuration.description),
                        "attempt": .integer(Int64(failure.attempt)),
                        "outcome": .string(failure.result.outcome.rawValue), "message": .init(failure.result.message),
                        "path": .init(failure.result.path), "line": .init(failure.result.line),
                    ]
                }),
            "next": history.next.map { .string(String($0)) } ?? .null,
        ]
    }
}
