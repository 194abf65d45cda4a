import Model
import Storage

/// The presentation of a result, a state or an outcome: a word, an icon, and a color that repeats the word's meaning.
struct ResultView: Sendable, Hashable {
    enum Tone: String, Sendable { case good, warn, bad, ours, busy, none }

    let word: String
    let tone: Tone
    let icon: String

    static let check = "M13.6 3.7 6.3 12.5 2.4 8.6l1.2-1.2 2.6 2.6 6.1-7.4z"
    static let cross = "M3.3 2 8 6.7 12.7 2 14 3.3 9.3 8l4.7 4.7-1.3 1.3L8 9.3 3.3 14 2 12.7 6.7 8 2 3.3z"
    static let triangle = "M8 1.5 15.5 14.5H.5zM7.2 6v4h1.6V6zm0 5.2v1.6h1.6v-1.6z"
    static let dot = "M8 3.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9z"
    static let arc = "M8 1a7 7 0 1 0 7 7h-2a5 5 0 1 1-5-5z"
    static let dots =
        "M3 6.6a1.4 1.4 0 1 1 0 2.8 1.4 1.4 0 0 1 0-2.8zm5 0a1.4 1.4 0 1 1 0 2.8 1.4 1.4 0 0 1 "
        + "0-2.8zm5 0a1.4 1.4 0 1 1 0 2.8 1.4 1.4 0 0 1 0-2.8z"
    static let minus = "M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1zM4.5 7.2h7v1.6h-7z"
    static let bolt = "M9.5 1 3 9h4l-.8 6L13 7H8.6z"

    init(word: String, tone: Tone, icon: String) {
        self.word = word
        self.tone = tone
        self.icon = icon
    }

    init(_ verdict: Verdict) {
        word = verdict.rawValue.replacing("-", with: " ")
        switch verdict {
        case .canceled: (tone, icon) = (.none, Self.minus)
        case .succeeded: (tone, icon) = (.good, Self.check)
        case .warnings, .analyzerWarnings: (tone, icon) = (.warn, Self.triangle)
        case .testFailures, .buildErrors: (tone, icon) = (.bad, Self.cross)
        case .checkoutError, .internalError: (tone, icon) = (.ours, Self.bolt)
        }
    }

    init(_ state: IntegrationState) {
        switch (state, state.result) {
        case (.completed(let verdict, _), .verdict?): self.init(verdict)
        case (.completed, _): self.init(word: "trigger failed", tone: .ours, icon: Self.bolt)
        case (.queued, _): self.init(word: "queued", tone: .none, icon: Self.dots)
        case (.running(let step), _): self.init(word: step.rawValue, tone: .busy, icon: Self.arc)
        }
    }

    /// Creates the view of an integration's state.
    /// - Parameter isSkipped: See `IntegrationRecord.isSkipped`.
    init(_ state: IntegrationState, isSkipped: Bool) {
        if isSkipped {
            self.init(word: "skipped", tone: .none, icon: Self.minus)
        } else {
            self.init(state)
        }
    }

    /// Creates the view of an integration. While jobs run, it shows the step of the least advanced job.
    init(_ record: IntegrationRecord, attempts: [AttemptRecord]) {
        guard case .running(.running) = record.state, let step = attempts.leastAdvancedStep else {
            self.init(record.state, isSkipped: record.isSkipped)
            return
        }
        self.init(word: step.rawValue, tone: .busy, icon: Self.arc)
    }

    init(_ state: AttemptState) {
        switch state {
        case .queued: self.init(word: "queued", tone: .none, icon: Self.dots)
        case .running(let step): self.init(word: step.rawValue, tone: .busy, icon: Self.arc)
        case .ended: self.init(word: "processing", tone: .busy, icon: Self.arc)
        case .processed(let verdict): self.init(verdict)
        }
    }

    init(_ outcome: TestResult.Outcome) {
        switch outcome {
        case .passed: self.init(word: "passed", tone: .good, icon: Self.check)
        case .failed: self.init(word: "failed", tone: .bad, icon: Self.cross)
        case .skipped: self.init(word: "skipped", tone: .none, icon: Self.minus)
        case .crashed: self.init(word: "crashed", tone: .bad, icon: Self.bolt)
        case .flaky: self.init(word: "flaky", tone: .warn, icon: Self.triangle)
        case .knownIssue: self.init(word: "known issue", tone: .warn, icon: Self.triangle)
        }
    }

    init(_ category: Finding.Category) {
        switch category {
        case .error: self.init(word: "error", tone: .bad, icon: Self.cross)
        case .warning: self.init(word: "warning", tone: .warn, icon: Self.triangle)
        case .analyzerWarning: self.init(word: "analyzer warning", tone: .warn, icon: Self.dot)
        case .testFailure: self.init(word: "test failure", tone: .bad, icon: Self.cross)
        case .triggerError: self.init(word: "trigger error", tone: .ours, icon: Self.bolt)
        }
    }

    init(_ state: TriggerState) {
        switch state {
        case .running: self.init(word: "running", tone: .busy, icon: Self.arc)
        case .succeeded: self.init(word: "succeeded", tone: .good, icon: Self.check)
        case .failed: self.init(word: "failed", tone: .ours, icon: Self.bolt)
        case .skipped: self.init(word: "skipped", tone: .none, icon: Self.minus)
        }
    }

    var view: ViewObject { ["word": .text(word), "tone": .text(tone.rawValue), "icon": .html(icon)] }
}

extension [AttemptRecord] {
    /// The step of the least advanced job; `nil` if no job runs. A waiting job counts as being at its checkout.
    var leastAdvancedStep: JobStep? {
        compactMap { attempt -> JobStep? in
            switch attempt.state {
            case .queued: .checkout
            case .running(let step): step
            case .ended: .processing
            case .processed: nil
            }
        }.min()
    }
}
