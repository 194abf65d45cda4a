/// Limits the time that the rules of a tree take, and hears a cancellation meanwhile: one question is answered by all lines of all files
/// above a path, which can take minutes.
final class RuleWatch {
    /// The limit of all questions of a checkout together. 20,000 files with 500 rules take less than a second.
    static let maximumTime = Duration.seconds(60)
    /// Comparisons of a byte with a part of a pattern between two looks at the clock: some milliseconds.
    static let stepsBetweenLooks = 1 << 18

    private let operation: String
    private let interruption: Interruption?
    private let limit: Duration?
    private let now: () -> ContinuousClock.Instant
    private var spent = Duration.zero
    /// Of the question that is being answered.
    private var began: ContinuousClock.Instant?
    private var steps = 0

    /// - Parameters:
    ///   - limit: Of all questions together; `nil` for none.
    ///   - now: The clock's time.
    init(
        operation: String, interruption: Interruption? = nil, limit: Duration? = maximumTime,
        now: @escaping () -> ContinuousClock.Instant = { .now }
    ) {
        (self.operation, self.interruption, self.limit, self.now) = (operation, interruption, limit, now)
    }

    /// Answers a question, which counts its steps here.
    /// - Throws: `treeRefused` once all questions have taken more than the limit, and what the body throws.
    func ask<Answer>(_ question: () throws(SourceControlError) -> Answer) throws(SourceControlError) -> Answer {
        began = now()
        // Also after an error: a checkout that gives its survey up asks on.
        defer {
            spent += elapsed()
            began = nil
        }
        let answer = try question()
        try check()
        return answer
    }

    /// Counts steps of a question.
    /// - Throws: `treeRefused` and `canceled`, when the question is not to be answered.
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
