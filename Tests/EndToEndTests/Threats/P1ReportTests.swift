import JobProtocol
import TestSupport
import Testing

/// Reports that crashed the parser of a daemon, in a real one.
@Suite(.program("git"), .threat("P1")) struct P1ReportTests {
    private static let recipe = """
        configurations: { debug: { build: 'true', test: cp broken.xml report.xml, report: report.xml } }
        analyze: []
        archive: { include: [] }

        """

    @Test(
        .proves(
            .reports,
            "A report that crashes its reader, or takes too much memory or time, is unreadable with the reason; the daemon continues and reads the other files"
        ))
    func testP1ThatAReportThatEndsAParserDoesNotEndTheDaemon() async throws {
        try await withDaemon { daemon in
            // given
            _ = try await daemon.work.commit(
                files: [".martlet.yml": Self.recipe, "broken.xml": "<testsuite name=\"a\"<?x?>></testsuite>"],
                message: "Begin")
            let pid = try #require(daemon.pid)

            // when
            try await daemon.work.push(to: daemon.remote)
            let integrated = try await daemon.martlet("integrate", "kit", "--wait")

            // then
            #expect(integrated.status == 1)
            expectContains(integrated.stdout, "test-failures")
            let issues = try await daemon.output("issues", "kit")
            expectContains(issues, "report unreadable: report.xml: line 1")
            #expect(daemon.pid == pid && ProcessTable.entry(of: pid)?.isAlive == true)
        }
    }
}
