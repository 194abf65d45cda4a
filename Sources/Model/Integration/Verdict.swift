/// The outcome of an integration or of one of its jobs. An integration has the verdict of its worst job.
package enum Verdict: String, Sendable, Codable, CaseIterable, Comparable {
    case canceled
    case succeeded
    case warnings
    case analyzerWarnings = "analyzer-warnings"
    case testFailures = "test-failures"
    case buildErrors = "build-errors"
    case checkoutError = "checkout-error"
    case internalError = "internal-error"

    /// The severity, from 0 (canceled) upwards.
    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    package static func < (left: Verdict, right: Verdict) -> Bool { left.rank < right.rank }

    /// Whether what was built may be published: it compiled, and no test failed. Warnings are allowed.
    package var isPublishable: Bool { self >= .succeeded && self <= .analyzerWarnings }

    /// Whether Martlet or the machine is at fault, not the code.
    package var isOurFault: Bool { self == .checkoutError || self == .internalError }

    /// Returns the worst of several verdicts; `canceled` if there are none.
    package static func worst(of verdicts: some Sequence<Verdict>) -> Verdict { verdicts.max() ?? .canceled }
}

/// The outcome of an integration as shown to users: its verdict, or that a trigger failed although the code was good.
package enum IntegrationResult: Hashable, Sendable, CustomStringConvertible {
    case verdict(Verdict)
    case triggerError

    /// Combines a verdict with the outcome of the triggers.
    /// - Parameter triggerFailed: Whether any trigger of the integration failed. It is ignored if the verdict is worse
    ///   than analyzer-warnings, because users must see that first.
    package init(verdict: Verdict, triggerFailed: Bool) {
        self = triggerFailed && verdict <= .analyzerWarnings ? .triggerError : .verdict(verdict)
    }

    package var description: String {
        switch self {
        case .verdict(let verdict): verdict.rawValue
        case .triggerError: "trigger-error"
        }
    }
}
