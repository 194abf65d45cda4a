import Model
import Redaction
import Reports

// The supervisor masks the bytes of logs and reports. But a reader's result can contain a secret that was split in them: XML joins
// `Hun<![CDATA[ter]]>2`, and a test tool's events of one line each become one message. Therefore the results are masked again before they are stored.

extension LogRedactor {
    func masked(_ finding: Finding) -> Finding {
        var finding = finding
        finding.message = masked(finding.message)
        finding.rule = masked(finding.rule)
        finding.path = finding.path.map(masked)
        return finding
    }

    func masked(_ test: TestResult) -> TestResult {
        var test = test
        test.suite = masked(test.suite)
        test.name = masked(test.name)
        test.message = test.message.map(masked)
        test.path = test.path.map(masked)
        return test
    }

    func masked(_ coverage: Coverage) -> Coverage {
        Coverage(
            files: coverage.files.map { file in
                var file = file
                file.path = masked(file.path)
                return file
            })
    }

    func masked(_ content: ReportContent) -> ReportContent {
        var content = content
        content.findings = content.findings.map(masked)
        content.tests = content.tests.map(masked)
        content.problems = content.problems.map(masked)
        content.notes = content.notes.map(masked)
        content.coverage = content.coverage.map(masked)
        return content
    }

    func masked(_ content: StepContent) -> StepContent {
        var content = content
        content.reports = content.reports.map(masked)
        content.console.findings = content.console.findings.map(masked)
        content.console.crash = content.console.crash.map(masked)
        content.console.xctest = content.console.xctest.map(masked)
        content.console.swiftTesting = content.console.swiftTesting.map(masked)
        content.console.problems = content.console.problems.map(masked)
        content.console.others = content.console.others.map(masked)
        content.console.listed = content.console.listed.map(masked)
        content.console.noTests = content.console.noTests.map(masked)
        return content
    }
}
