import Model
import TestSupport
import Testing

@testable import Reports

@Suite(.threat("P3")) struct SARIFReaderTests {
    /// Counted with Python's json: results of kind fail that are not suppressed and not absent.
    static let expectations: [(file: String, findings: Int)] = [
        ("samples/clang-analyze.sarif", 3),
        ("sarif/codeql-action__fingerprinting.input.sarif", 2),
        ("sarif/codeql-action__fingerprinting2.input.sarif", 1),
        ("sarif/defectdojo__appendix_k2.sarif", 1),
        ("sarif/defectdojo__bash-report-fabricated-no-internal-dupes-subset.sarif", 4),
        ("sarif/defectdojo__bash-report-fabricated-no-internal-dupes.sarif", 5),
        ("sarif/defectdojo__cxf-3.4.6.sarif", 22),
        ("sarif/defectdojo__dockle_0_3_15.sarif", 4),
        ("sarif/defectdojo__njsscan.sarif", 2),
        ("sarif/sarif-sdk__validate-GH1001.ProvideRequiredLocationProperties_Valid.sarif", 1),
        ("sarif/sarif-sdk__validate-GH1006.ProvideCheckoutPath_Valid.sarif", 1),
        ("sarif/sarif-sdk__validate-SARIF1007.RegionPropertiesMustBeConsistent_Invalid.sarif", 2),
        ("sarif/sarif-sdk__validate-SARIF1007.RegionPropertiesMustBeConsistent_Valid.sarif", 2),
        ("sarif/sarif-sdk__validate-SARIF1009.IndexPropertiesMustBeConsistentWithArrays_Valid.sarif", 1),
        ("sarif/sarif-sdk__validate-SARIF1011.ReferenceFinalSchema_Valid.sarif", 0),
        ("sarif/sarif-sdk__validate-SARIF1012.MessageArgumentsMustBeConsistentWithRule_Valid.sarif", 1),
        ("sarif/sarif-sdk__validate-SARIF1013.SarifReferencesMustResolve_Valid.sarif", 2),
        ("sarif/tutorials__1-Introduction-simple-example.sarif", 1),
        ("sarif/tutorials__2-Basics-empty-log.sarif.json", 0),
        ("sarif/tutorials__3-Beyond-basics-bad-eval-with-code-flow.sarif", 1),
        ("sarif/tutorials__3-Beyond-basics-link-to-location.sarif", 1),
        ("sarif/tutorials__3-Beyond-basics-message-with-arguments.sarif", 1),
        ("sarif/tutorials__Baseline.sarif", 3),
        ("sarif/tutorials__CodeFlows.sarif", 1),
        ("sarif/tutorials__ContextRegion.sarif", 1),
        ("sarif/tutorials__ExceptionalConditions-One-run-empty-results.sarif", 0),
        ("sarif/tutorials___template.sarif", 1),
        ("sarif/violations-lib__dependency-check-report.sarif", 1),
        ("sarif/violations-lib__with-toolConfigurationNotifications.json", 0),
    ]

    /// Drafts of the standard.
    static let refusals = [
        "sarif/sarif-sdk__spec-Comprehensive.sarif", "sarif/sarif-sdk__spec-InlineExternalProperties.sarif",
    ]

    /// Files without an analysis, or with an incomplete one.
    static let unclean = [
        ("sarif/tutorials__ExceptionalConditions-Empty-runs.sarif", "holds no run: the analysis did not take place"),
        (
            "sarif/defectdojo__appendix_k.sarif",
            "CodeScanner reports about itself: Exception evaluating rule \"C2001\"."
        ),
    ]

    private let root = SourceRoot(mountedAt: "/martlet/kit")

    private func read(_ text: String) -> ReportContent { SARIFReader.read(Array(text.utf8), root: root) }

    private func run(_ rest: String) -> ReportContent { read(#"{"version": "2.1.0", "runs": [{\#(rest)}]}"#) }

    @Test(.proves(.reports, "SARIF 2.1.0"), .corpus, arguments: expectations)
    func testThatItCountsAsTheFileDoes(file: String, findings: Int) throws {
        let content = ReportReader.read(try Corpus.file(file).bytes(), fileName: file, root: root)
        #expect(content.findings.count == findings)
        #expect(content.problems == [])
        #expect(content.findings.allSatisfy { $0.category == .analyzerWarning && !$0.message.isEmpty })
    }

    @Test(.proves(.reports, "SARIF 2.1.0"), .corpus, arguments: refusals)
    func testThatItRefusesDrafts(file: String) throws {
        let content = ReportReader.read(try Corpus.file(file).bytes(), fileName: "a.sarif", root: root)
        #expect(content.problems.first?.contains("SARIF version 2.0.0") == true, "\(content.problems)")
        #expect(content.findings == [])
    }

    @Test(.corpus, arguments: unclean)
    func testThatWhatDidNotTakePlaceIsAProblem(file: String, reason: String) throws {
        let content = ReportReader.read(try Corpus.file(file).bytes(), fileName: "a", root: root)
        #expect(content.problems.first?.contains(reason) == true, "\(content.problems)")
        #expect(content.findings == [])
    }

    @Test(.corpus) func testThatEveryFileOfTheCorpusHasAnExpectation() {
        let known = Set(Self.expectations.map(\.file) + Self.refusals + Self.unclean.map(\.0))
        #expect(Corpus.files("sarif").map(\.name).filter { !known.contains($0) } == [])
    }

    @Test(
        .proves(
            .steps,
            "`clang --analyze` with SARIF for C targets, wherever they lie, with the options that their manifest gives them"
        ), .corpus)
    func testThatItReadsClangsAnalyzer() throws {
        let bytes = try Corpus.file("samples/clang-analyze.sarif").bytes()
        let content = SARIFReader.read(bytes, root: SourceRoot(mountedAt: "/home/me"))
        #expect(
            content.findings.contains { $0.rule == "unix.Malloc" && $0.path == "bug.c" || $0.rule == "unix.Malloc" })
        #expect(content.findings.allSatisfy { $0.path?.hasSuffix(".c") == true && $0.line != nil && $0.column != nil })
    }

    @Test(.corpus) func testThatItPutsArgumentsIntoTheRulesMessage() throws {
        let file = "sarif/tutorials__3-Beyond-basics-message-with-arguments.sarif"
        let content = SARIFReader.read(try Corpus.file(file).bytes(), root: root)
        let message = try #require(content.findings.first?.message)
        #expect(!message.contains("{0}"), "\(message)")
    }

    @Test(arguments: [
        ("{\"version\":\"1.0.0\",\"runs\":[]}", "SARIF version 1.0.0 is not supported; 2.1.0 is"),
        ("{\"runs\":[]}", "it has no version"), ("{\"version\":\"2.1.0\"}", "without runs"),
        ("{\"version\":\"2.1.0\",\"runs\":null}", "without runs"), ("[]", "not an object"), ("{", "no JSON"),
        ("", "no JSON"),
        ("{\"version\":\"2.1.0\",\"runs\":[null]}", "is not an object"),
        ("{\"version\":\"2.1.0\",\"runs\":[{\"results\":null}]}", "the analysis did not take place"),
        ("{\"version\":\"2.1.0\",\"runs\":[{\"tool\":{\"driver\":{\"name\":\"lint\"}}}]}", "lint has no results"),
    ])
    func testThatWhatIsMissingIsNeverClean(text: String, reason: String) {
        #expect(read(text).problems.first?.contains(reason) == true, "\(read(text).problems)")
    }

    @Test func testThatAToolThatFailedIsAProblem() {
        let content = run(
            #""tool":{"driver":{"name":"lint"}},"results":[],"#
                + #""invocations":[{"executionSuccessful":false,"exitCodeDescription":"out of memory"}]"#)
        #expect(content.problems == ["lint did not succeed, according to its report: out of memory"])
    }

    @Test func testThatAnInvocationSetsLevels() {
        let rules = #""tool":{"driver":{"name":"lint","rules":[{"id":"A"},{"id":"B"}]}},"#
        let overrides =
            #""invocations":[{"executionSuccessful":true,"ruleConfigurationOverrides":[{"descriptor":{"index":0},"#
            + #""configuration":{"level":"none"}},{"descriptor":{"id":"B"},"configuration":{"level":"note"}}]}],"#
        let results =
            #""results":[{"ruleId":"A","message":{"text":"m"}},{"ruleId":"B","message":{"text":"m"}},"#
            + #"{"ruleId":"A","level":"error","message":{"text":"m"}}]"#
        #expect(run(rules + overrides + results).findings.map(\.rule) == ["B", "A"])
    }

    @Test func testThatAnErrorThatAToolSaysOfItselfIsAProblem() {
        let content = run(
            #""tool":{"driver":{"name":"lint"}},"results":[],"invocations":[{"executionSuccessful":true,"#
                + #""toolExecutionNotifications":[{"level":"note","message":{"text":"fine"}},{"level":"error","message":{"text":"no file"}}]}]"#
        )
        #expect(content.problems == ["lint reports about itself: no file"])
    }

    @Test(arguments: [
        (#""kind":"pass""#, 0), (#""kind":"notApplicable""#, 0), (#""kind":"review""#, 1), (#""level":"none""#, 0),
        (#""level":"note""#, 1), (#""suppressions":[{"kind":"inSource"}]"#, 0),
        (#""suppressions":[{"kind":"external","status":"rejected"}]"#, 1), (#""suppressions":[]"#, 1),
        (#""baselineState":"absent""#, 0), (#""ruleIndex":0"#, 0), (#""ruleId":"quiet/part""#, 0),
        (#""ruleIndex":7"#, 1),
        (#""ruleIndex":-1"#, 1), (#""ruleId":"other""#, 1),
    ])
    func testThatItLeavesOutWhatAsksForNothing(property: String, count: Int) {
        let content = run(
            #""tool":{"driver":{"name":"lint","rules":[{"id":"quiet","defaultConfiguration":{"level":"none"}}]}},"#
                + #""results":[{"message":{"text":"m"},\#(property)}]"#)
        #expect(content.findings.count == count)
    }

    @Test(arguments: [
        (#""uri":"file:///martlet/kit/a%20b.c""#, "a b.c"), (#""uri":"src/a.c""#, "src/a.c"),
        (#""uri":"a.c","uriBaseId":"SRC""#, "src/a.c"), (#""uri":"a.c","uriBaseId":"%SRCROOT%""#, "a.c"),
        (#""uri":"a.c","uriBaseId":"CIRCLE""#, String(repeating: "x/", count: 8) + "a.c"), (#""index":0"#, "listed.c"),
        (#""uri":"file:///etc/passwd""#, "file:///etc/passwd"), (#""uri":"../../a.c""#, "../../a.c"),
        (#""uri":"./a/../b.c""#, "b.c"),
    ])
    func testThatItResolvesLocations(location: String, path: String) {
        let content = run(
            """
            "originalUriBaseIds":{"ROOT":{"uri":"file:///martlet/kit/"},"SRC":{"uri":"src/","uriBaseId":"ROOT"},
              "CIRCLE":{"uri":"x","uriBaseId":"CIRCLE"}},"artifacts":[{"location":{"uri":"listed.c"}}],
            "results":[{"message":{"text":"m"},"locations":[{"physicalLocation":{"artifactLocation":{\(location)},
              "region":{"startLine":3,"startColumn":0}}}]}]
            """)
        #expect(content.findings.first?.path == path)
        #expect(content.findings.first?.line == 3)
        #expect(content.findings.first?.column == nil)
    }

    @Test(.corpus) func testThatItSurvivesBeingCutAnywhere() throws {
        let bytes = try Corpus.file("sarif/defectdojo__cxf-3.4.6.sarif").bytes()
        for end in stride(from: 0, to: bytes.count - 1, by: 512) {
            #expect(SARIFReader.read(Array(bytes[..<end]), root: root).problems.isEmpty == false)
        }
    }
}
