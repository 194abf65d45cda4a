import Model
import TestSupport
import Testing

@Suite struct VerdictTests {
    @Test(.proves(.model, "The verdict's order; the worst job wins"))
    func testThatTheOrderIsTheDesigns() {
        let ordered: [Verdict] = [
            .canceled, .succeeded, .warnings, .analyzerWarnings, .testFailures, .buildErrors, .checkoutError,
            .internalError,
        ]
        #expect(Verdict.allCases.sorted() == ordered)
        #expect(
            ordered.map(\.rawValue) == [
                "canceled", "succeeded", "warnings", "analyzer-warnings", "test-failures", "build-errors",
                "checkout-error", "internal-error",
            ])
    }

    @Test(.proves(.model, "The verdict's order; the worst job wins"))
    func testThatTheWorstJobWins() {
        #expect(Verdict.worst(of: [.succeeded, .testFailures, .warnings]) == .testFailures)
        #expect(Verdict.worst(of: [.canceled, .succeeded]) == .succeeded)
        #expect(Verdict.worst(of: []) == .canceled)
    }

    @Test func testThatOnlyGreenCodeIsPublished() {
        #expect(Verdict.allCases.filter(\.isPublishable) == [.succeeded, .warnings, .analyzerWarnings])
        #expect(Verdict.allCases.filter(\.isOurFault) == [.checkoutError, .internalError])
    }
}

@Suite struct IntegrationResultTests {
    @Test(
        .proves(.model, "The result: the verdict, or trigger-error when the code was good and a trigger failed"),
        arguments: Verdict.allCases)
    func testThatAFailedTriggerShowsOnlyWhenTheCodeWasGood(_ verdict: Verdict) {
        let isShown = verdict <= .analyzerWarnings
        #expect(
            IntegrationResult(verdict: verdict, triggerFailed: true) == (isShown ? .triggerError : .verdict(verdict)))
        #expect(IntegrationResult(verdict: verdict, triggerFailed: false) == .verdict(verdict))
    }
}
