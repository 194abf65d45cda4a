/// Limits the time that the rules of a tree take, and checks for a cancellation meanwhile. One query compares a path with all lines of all files
/// above it, which can take minutes.
final class RuleWatch {
    /// The time limit of all queries of a checkout together. 20,000 files with 500 rules take less than a second.
    static let maximumTime = Duration.seconds(60)
    /// The number of comparisons of a byte with a part of a pattern between two checks of the clock. They take some milliseconds.
    static let stepsBetweenLooks = 1 << 18

    private let operation: String
    private let interruption: Interruption?
    private let limit: Duration?
    private let now: () -> ContinuousClock.Instant
    private var spent = Duration.zero
    /// The start of the running query; `nil` between queries.
    private var began: ContinuousClock.Instant?
    private var steps = 0

    /// - Parameters:
    ///   - limit: The time limit of all queries together; `nil` for none.
    ///   - now: Returns the clock's time.
    init(
        operation: String, interruption: Interruption? = nil, limit: Duration? = maximumTime,
        now: @escaping () -> ContinuousClock.Instant = { .now }
    ) {
        (self.operation, self.interruption, self.limit, self.now) = (operation, interruption, limit, now)
    }

    /// Runs a query, which must count its steps here.
    /// - Throws: `treeRefused` once all queries have taken more than the limit, and the errors of the body.
    func ask<Answer>(_ question: () throws(SourceControlError) -> Answer) throws(SourceControlError) -> Answer {
        began = now()
        // This also applies after an error: a checkout that gives up its survey makes further queries.
        defer {
            spent += elapsed()
            began = nil
        }
        let answer = try question()
        try check()
        return answer
    }

    /// Counts steps of a query.
    /// - Throws: `treeRefused` and `canceled` to end the query.
    func count(_ steps: Int) throws(SourceControlError) {
        self.steps += steps
        guard self.steps >= Self.stepsBetweenLooks else { return }
        self.steps = 0
        try interruption?.check(operation)
        try check()
    }

    private func elapsed() -> Duration { began.map { now() - $0 } ?? .zero }

    private func check() throws(SourceControlError) {
        guard let limit, spent + elapsed() > limit else { return }
        throw SourceControlError(
            code: .treeRefused, operation: operation,
            message:
                "its .gitignore and .gitattributes take more than \(limit) to match with its files; "
                + "write them with fewer rules and wildcards")
    }
}
