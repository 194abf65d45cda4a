import JobProtocol
import Model
import Storage
import TestSupport
import Testing

/// The result of a limit of the whole job.
@Suite struct AttemptLimitTests {
    @Test(
        .proves(
            .jobs, "A limit of the whole job, such as its log's, ends it, whatever step reached it, and is build-errors"
        ))
    func testThatItIsNeverGreenNorOurFault() async throws {
        // given, when: an analysis that the build does not depend on fills the log, and no later step ran
        let results = try await AttemptProcessorTests().results(
            of: [.init(step: .analyzing, exit: nil, signal: 15, limit: "log over 64 MiB")], outcome: .failed,
            limit: "log over 64 MiB")

        // then
        #expect(results.verdict == .buildErrors)
        #expect(results.reason == "log over 64 MiB")
        #expect(results.findings.contains { $0.finding.rule == "martlet.limit" })
        #expect(results.counts.errors == 1)
    }
}
