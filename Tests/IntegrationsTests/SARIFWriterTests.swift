import Encodings
import Model
import TestSupport
import Testing

@testable import Integrations
@testable import Reports

@Suite struct SARIFWriterTests {
    private static func bytes(_ issues: [Model.Issue], isWhole: Bool = true, origin: SARIFWriter.Origin) -> [UInt8] {
        var writer = SARIFWriter(origin: origin, isWhole: isWhole)
        let results = writer.results(issues)
        return writer.beginning + results + writer.end
    }

    @Test(
        .proves(
            .issueHistory,
            "A large integration's issues come in parts, its SARIF log has at most 25,000 results and says so"))
    func testThatItSaysWhenThereAreMore() {
        let origin = SARIFWriter.Origin(version: "1", automation: "kit/main/1")
        let cut = String(decoding: Self.bytes([], isWhole: false, origin: origin), as: UTF8.self)
        #expect(cut.contains(#""text":"There are more issues than these"#))
        #expect(!String(decoding: Self.bytes([], origin: origin), as: UTF8.self).contains("invocations"))
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
        let log = try JSON.parse(Self.bytes(issues, origin: origin))
        return try #require(log["runs"][0]["results"].elements)
    }

    @Test(.proves(.issueHistory, "SARIF with `baselineState` and JUnit for others"))
    func testThatOurReaderReadsWhatIsStillThere() {
        // given an issue of each status
        let issues = Model.Issue.Status.allCases.map { issue($0) }
        // when
        let content = SARIFReader.read(Self.bytes(issues, origin: origin), root: SourceRoot(mountedAt: "/m"))
        // then neither the resolved nor the muted one asks for anything
        #expect(content.problems == [])
        #expect(content.findings.count == 2)
        #expect(
            content.findings.first
                == Finding(
                    category: .analyzerWarning, message: "m", rule: "-Wunused", path: "src/a b:c.c", line: 3, column: 5)
        )
    }

    @Test(.proves(.issueHistory, "SARIF with `baselineState` and JUnit for others"))
    func testThatStatusIsTheBaseline() throws {
        let found = try results(Model.Issue.Status.allCases.map { issue($0) })
        #expect(found.map { $0["baselineState"].string } == ["new", "unchanged", "absent", "unchanged"])
        #expect(found.map { $0["suppressions"].elements?.count } == [nil, nil, nil, 1])
        #expect(found.first?["partialFingerprints"]["martlet/v1"].string == "f-new")
        #expect(found.first?["properties"]["configurations"][0].string == "debug")
    }

    @Test func testThatItSaysWhereItComesFrom() throws {
        let log = try JSON.parse(Self.bytes([], origin: origin))
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
