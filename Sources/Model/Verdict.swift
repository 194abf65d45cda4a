/// What an integration, or a job of it, came to. The worst job's verdict is the integration's.
package enum Verdict: String, Sendable, Codable, CaseIterable, Comparable {
    case canceled
    case succeeded
    case warnings
    case analyzerWarnings = "analyzer-warnings"
    case testFailures = "test-failures"
    case buildErrors = "build-errors"
    case checkoutError = "checkout-error"
    case internalError = "internal-error"

    /// How bad, from 0 (canceled) upwards.
    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    package static func < (left: Verdict, right: Verdict) -> Bool { left.rank < right.rank }

    /// Whether what was built may be published: it compiled, and no test failed. Warnings do not count against it.
    package var isPublishable: Bool { self >= .succeeded && self <= .analyzerWarnings }

    /// Whether the fault is ours or the machine's, never the code's.
    package var isOurFault: Bool { self == .checkoutError || self == .internalError }

    /// The worst of several, or `canceled` when there is none.
    package static func worst(of verdicts: some Sequence<Verdict>) -> Verdict { verdicts.max() ?? .canceled }
}

/// What is shown of an integration as a whole: its verdict, or that a trigger failed although the code was good.
package enum IntegrationResult: Hashable, Sendable, CustomStringConvertible {
    case verdict(Verdict)
    case triggerError

    /// - Parameter triggerFailed: Whether any trigger of the integration failed. It only shows when the verdict is no
    ///   worse than analyzer-warnings, since a worse verdict is what people must see first.
    package init(verdict: Verdict, triggerFailed: Bool) {
        self = triggerFailed && verdict <= .analyzerWarnings ? .triggerError : .verdict(verdict)
    }

    /// Reads what `description` prints; nothing for another word.
    package init?(_ string: String) {
        if string == "trigger-error" {
            self = .triggerError
        } else if let verdict = Verdict(rawValue: string) {
            self = .verdict(verdict)
        } else {
            return nil
        }
    }

    package var description: String {
        switch self {
        case .verdict(let verdict): verdict.rawValue
        case .triggerError: "trigger-error"
        }
    }
}
