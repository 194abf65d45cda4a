import Foundation
import Model
import Testing

@testable import Reports

@Suite struct SARIFWriterTests {
    @Test func testThatItSaysWhenThereAreMore() {
        let origin = SARIFWriter.Origin(version: "1", automation: "kit/main/1")
        let cut = String(decoding: SARIFWriter.bytes([], isWhole: false, origin: origin), as: UTF8.self)
        #expect(cut.contains(#""text":"There are more issues than these"#))
        #expect(!String(decoding: SARIFWriter.bytes([], origin: origin), as: UTF8.self).contains("invocations"))
    }

    private let origin = SARIFWriter.Origin(
        version: "1.2.3", automation: "kit/main/17", repository: "https://example.org/kit", commit: "abc",
        branch: "main")

    private func issue(
        _ status: Model.Issue.Status, _ category: Finding.Category = .warning, rule: String = "-Wunused",
        path: String? = "src/a b:c.c",
        message: String = "m"
    ) -> Model.Issue {
        Model.Issue(
            fingerprint: "f-\(status)", status: status,
            finding: Finding(category: category, message: message, rule: rule, path: path, line: 3, column: 5), age: 2,
            configurations: [Name(nearest: "debug")])
    }

    private func results(_ issues: [Model.Issue]) throws -> [JSON] {
        let log = try JSON.parse(SARIFWriter.bytes(issues, origin: origin))
        return try #require(log["runs"][0]["results"].elements)
    }

    @Test func testThatOurReaderReadsWhatIsStillThere() {
        // given an issue of each status
        let issues = Model.Issue.Status.allCases.map { issue($0) }
        // when
        let content = SARIFReader.read(SARIFWriter.bytes(issues, origin: origin), root: SourceRoot(mountedAt: "/m"))
        // then neither the resolved nor the silenced one asks for anything
        #expect(content.problems == [])
        #expect(content.findings.count == 2)
        #expect(
            content.findings.first
                == Finding(
                    category: .analyzerWarning, message: "m", rule: "-Wunused", path: "src/a b:c.c", line: 3, column: 5)
        )
    }

    @Test func testThatStatusIsTheBaseline() throws {
        let found = try results(Model.Issue.Status.allCases.map { issue($0) })
        #expect(found.map { $0["baselineState"].string } == ["new", "unchanged", "absent", "unchanged"])
        #expect(found.map { $0["suppressions"].elements?.count } == [nil, nil, nil, 1])
        #expect(found.first?["partialFingerprints"]["martlet/v1"].string == "f-new")
        #expect(found.first?["properties"]["configurations"][0].string == "debug")
    }

    @Test func testThatItSaysWhereItComesFrom() throws {
        let log = try JSON.parse(SARIFWriter.bytes([], origin: origin))
        #expect(log["version"].string == "2.1.0")
        let run = log["runs"][0]
        #expect(run["results"].elements?.isEmpty == true)
        #expect(run["tool"]["driver"]["version"].string == "1.2.3")
        #expect(run["automationDetails"]["id"].string == "kit/main/17")
        #expect(run["versionControlProvenance"][0]["revisionId"].string == "abc")
    }

    @Test(arguments: [
        (Finding.Category.error, "error"), (.warning, "warning"), (.analyzerWarning, "warning"),
        (.testFailure, "error"),
        (.triggerError, "error"),
    ])
    func testThatCategoriesAreLevels(category: Finding.Category, level: String) throws {
        #expect(try results([issue(.new, category)]).first?["level"].string == level)
    }

    @Test func testThatRulesAreListedOnceAndATestIsInTheText() throws {
        let issues = [issue(.new), issue(.new, rule: ""), issue(.new), issue(.new, .testFailure, rule: "S/t")]
        let found = try results(issues)
        #expect(found.map { $0["ruleIndex"].int } == [0, 1, 0, 2])
        #expect(found.map { $0["ruleId"].string } == ["-Wunused", "warning", "-Wunused", "test-failure"])
        #expect(found.last?["message"]["text"].string == "S/t: m")
    }

    @Test(
        arguments: [
            ("src/ä.c", "src/%C3%A4.c", "%SRCROOT%"), ("a:b.c", "a%3Ab.c", "%SRCROOT%"),
            ("/usr/a b.h", "file:///usr/a%20b.h", nil),
            ("../x.c", "../x.c", nil),
        ] as [(String, String, String?)])
    func testThatPathsAreURIs(path: String, uri: String, base: String?) throws {
        let location = try #require(try results([issue(.new, path: path)]).first)["locations"][0]["physicalLocation"][
            "artifactLocation"]
        #expect(location["uri"].string == uri)
        #expect(location["uriBaseId"].string == base)
    }
}

@Suite struct JUnitWriterTests {
    private let tests = [
        TestResult(suite: "Kit.A", name: "passes<&>\"", outcome: .passed, duration: .milliseconds(1250)),
        TestResult(
            suite: "Kit.A", name: "fails", outcome: .failed, message: "no\nreally\u{1} <no>", path: "a.swift", line: 3),
        TestResult(suite: "Kit.B", name: "skips", outcome: .skipped, message: "not here"),
        TestResult(suite: "Kit.B", name: "crashes", outcome: .crashed, message: "ended by signal 4 (SIGILL)"),
        TestResult(suite: "", name: "flaky", outcome: .flaky, message: "once"),
        TestResult(suite: "", name: "known", outcome: .knownIssue, message: "bug 12"),
    ]

    @Test func testThatOurReaderReadsThemBack() throws {
        let content = JUnitReader.read(JUnitWriter.bytes([("debug", tests)]), root: SourceRoot(mountedAt: "/m"))
        #expect(content.problems == [])
        #expect(TestCounts(of: content.tests) == .init(6, failed: 2, skipped: 2, flaky: 1))
        let passes = try test("passes<&>\"", in: content.tests)
        #expect(passes.suite == "Kit.A")
        #expect(passes.duration == .milliseconds(1250))
        let fails = try test("fails", in: content.tests)
        #expect(fails.message == "no\nreally\u{FFFD} <no>")
        #expect(fails.path == "a.swift")
        #expect(fails.line == 3)
        #expect(try test("known", in: content.tests).message == "known issue: bug 12")
        #expect(try test("flaky", in: content.tests).suite == "debug", "without a suite the configuration is one")
    }

    @Test func testThatCountsAreThoseOfTheTests() {
        let text = String(decoding: JUnitWriter.bytes([("debug", tests)]), as: UTF8.self)
        #expect(text.contains("<testsuites tests=\"6\" failures=\"1\" errors=\"1\" skipped=\"2\" time=\"1.250\">"))
        #expect(
            text.contains(
                "<testsuite name=\"Kit.B\" tests=\"2\" failures=\"0\" errors=\"1\" skipped=\"1\" time=\"0.000\">"))
        #expect(text.contains("<property name=\"configuration\" value=\"debug\"/>"))
    }

    @Test func testThatNoTestsAreAReportToo() {
        let content = JUnitReader.read(JUnitWriter.bytes([]), root: SourceRoot(mountedAt: "/m"))
        #expect(content == ReportContent())
    }
}
