import Foundation
import Model
import TestSupport
import Testing

@testable import Reports

@Suite struct JUnitReaderTests {
    /// Counted with Python's xml.etree: cases, those with failure or error, those with skipped, and failed cases that passed when they were run
    /// again, if the suite counts no failure. A suite's own error counts as a failed test.
    static let expectations: [(file: String, counts: TestCounts)] = [
        ("junit/dorny__empty__java-junit.xml", .init(0)),
        ("junit/dorny__empty__phpunit-empty.xml", .init(0)),
        (
            "junit/dorny__external__java__TEST-org.apache.pulsar.AddMissingPatchVersionTest.xml",
            .init(2, failed: 1, skipped: 1)
        ),
        ("junit/dorny__external__java__junit4-complete.xml", .init(8, failed: 2, skipped: 1)),
        ("junit/dorny__python-xunit-pytest.xml", .init(10, failed: 2, skipped: 2)),
        ("junit/dorny__test-errors__jest__jest-test-results.xml", .init(2, failed: 2)),
        ("junit/enricomi__empty-system-out-err.xml", .init(1)),
        ("junit/enricomi__minimal-attributes.xml", .init(4, failed: 2, skipped: 1)),
        ("junit/enricomi__mocha__latex-utensils.xml", .init(109)),
        ("junit/enricomi__no-cases.xml", .init(0)),
        ("junit/enricomi__pytest__junit.mpi.static.xml", .init(24)),
        ("junit/enricomi__pytest__junit.spark.integration.1.xml", .init(35, skipped: 2)),
        ("junit/enricomi__scalatest__TEST-uk.co.gresearch.spark.diff.DiffOptionsSuite.xml", .init(5)),
        ("junit/enricomi__testsuite-in-testsuite.xml", .init(5)),
        ("junit/enricomi__testsuite-root.xml", .init(5)),
        ("junit/enricomi__unsupported-unicode.xml", .init(7, failed: 4, skipped: 2)),
        ("junit/go-junit-report__035.xml", .init(9)),
        ("junit/go-junit-report__102.xml", .init(1, failed: 1)),
        ("junit/jenkins-junit__JENKINS-12457__TestSuite_a2.xml", .init(1)),
        ("junit/jenkins-junit__JENKINS-13214__27449.xml", .init(1)),
        ("junit/jenkins-junit__JENKINS-13214__27540.xml", .init(1)),
        ("junit/jenkins-junit__JENKINS-13214__29734.xml", .init(1)),
        ("junit/jenkins-junit__JENKINS-30413.xml", .init(2, failed: 1)),
        ("junit/jenkins-junit__JENKINS-42438__junit-report-1.xml", .init(11, skipped: 3)),
        ("junit/jenkins-junit__JENKINS-48583__TEST-com.sample.test.TestMessage.xml", .init(1)),
        ("junit/jenkins-junit__SKIPPED_MESSAGE__afterSkippedResult.xml", .init(1, failed: 1)),
        ("junit/jenkins-junit__junit-report-1233.xml", .init(5)),
        ("junit/jenkins-junit__junit-report-1463.xml", .init(6)),
        ("junit/jenkins-junit__junit-report-20090516.xml", .init(8, failed: 3)),
        ("junit/jenkins-junit__junit-report-494.xml", .init(2, failed: 1)),
        ("junit/jenkins-junit__junit-report-bad-duration.xml", .init(2)),
        ("junit/jenkins-junit__junit-report-errror-details.xml", .init(1, failed: 1)),
        ("junit/jenkins-junit__junit-report-nested-testsuites.xml", .init(3, failed: 1)),
        ("junit/jenkins-junit__junit-report-testsuite-various-timestamps.xml", .init(12)),
        ("junit/jenkins-xunit__googletest-1.xml", .init(3)),
        ("junit/jenkins-xunit__googletest-2.junit-expected.xml", .init(4, failed: 2, skipped: 1)),
        ("junit/jenkins-xunit__googletest-3.xml", .init(4)),
        ("junit/mikepenz__flaky_retries__flaky_with_classname_file.xml", .init(5, failed: 2)),
        ("junit/mikepenz__junit-server-test__report.xml", .init(4, failed: 1, skipped: 1)),
        ("junit/mikepenz__junit_flaky_failure__marathon_junit_report.xml", .init(1, flaky: 1)),
        ("junit/mikepenz__marathon_tests__com.mikepenz.DummyTest-test_02_dummy.xml", .init(1)),
        ("junit/mikepenz__multiple__test_12.xml", .init(3, skipped: 1)),
        ("junit/mikepenz__nextest__basic.xml", .init(3, failed: 1)),
        ("junit/mikepenz__python__report_flaky.xml", .init(4, failed: 2)),
        (
            "junit/mikepenz__tests__utils__target__surefire-reports__TEST-action.surefire.report.calc.CalcUtilsTest.xml",
            .init(2, failed: 2)
        ),
        (
            "junit/mikepenz__tests__utils__target__surefire-reports__TEST-action.surefire.report.calc.StringUtilsTest.xml",
            .init(5, failed: 2, skipped: 1)
        ),
        ("junit/mikepenz__xunit__report.xml", .init(4, failed: 1)),
        ("junit/swift__http-types-swift-testing-6.3.1.xml", .init(27)),
        ("junit/swift__http-types-xctest-empty-6.3.1.xml", .init(0)),
        ("junit/violations-lib__archunit2.xml", .init(3, failed: 2)),
        ("junit/violations-lib__junit.xml", .init(6, failed: 2)),
        ("testreports-other/jenkins-xunit__cppunit-1.junit-expected.xml", .init(5, failed: 1)),
        ("testreports-other/jenkins-xunit__ctest-1.junit-expected.xml", .init(11, failed: 4)),
        ("testreports-other/jenkins-xunit__qtestlib-3.junit-expected.xml", .init(3)),
        ("samples/xunit-swift-testing.xml", .init(7, failed: 3, skipped: 1)),
        ("samples/xunit-xctest-parallel.xml", .init(7, failed: 2)),
        ("samples/xunit-xctest-parallel-message.xml", .init(7, failed: 2)),
    ]

    /// Files that must be refused, with a part of the reason.
    static let refusals: [(file: String, reason: String)] = [
        ("junit/enricomi__non-junit.xml", "root element is <suites>"),
        (
            "junit/mikepenz__corrupt-junit__e2e-tests__corrupt__target__sf-reports__TEST-test.CorruptTest.xml",
            "not well-formed"
        ),
        ("xml-attacks/defusedxml__cyclic.xml", "document type"),
        ("xml-attacks/defusedxml__external_file.xml", "document type"),
        ("xml-attacks/defusedxml__quadratic.xml", "document type"),
        ("xml-attacks/defusedxml__xalan_write.xsl", "root element is <stylesheet>"),
    ]

    private let root = SourceRoot(mountedAt: "/home/me/pkg")

    /// The form of pytest 8.
    @Test func testThatAModuleThatCannotBeImportedIsNamed() throws {
        // given
        let text = """
            <testsuites><testsuite name="pytest" errors="1" failures="0" tests="1"><testcase classname="" name="test_a" time="0.000">
            <error message="collection failure">ImportError while importing test module '/kit/test_a.py'.
            Hint: make sure your test modules/packages have valid Python names.
            Traceback:
            /usr/lib/python3.11/importlib/__init__.py:126: in import_module
                return _bootstrap._gcd_import(name[level:], package, level)
            test_a.py:2: in &lt;module&gt;
                import missing_thing
            E   ModuleNotFoundError: No module named 'missing_thing'</error></testcase></testsuite></testsuites>
            """
        // when
        let content = ReportReader.read(Array(text.utf8), fileName: "a", root: SourceRoot(mountedAt: "/kit"))
        // then
        let failed = try #require(content.tests.first)
        #expect(
            failed.message?.hasPrefix("test_a.py could not be imported: ModuleNotFoundError: No module named") == true)
        #expect(failed.path == "test_a.py")
        #expect(failed.line == 2)
    }

    @Test(.proves(.reports, "xUnit and JUnit"), .threat("P2"), .corpus, arguments: expectations)
    func testThatItCountsAsTheFileDoes(file: String, counts: TestCounts) throws {
        let content = ReportReader.read(try Corpus.file(file).bytes(), fileName: file, root: root)
        #expect(TestCounts(of: content.tests) == counts)
        #expect(content.problems == [])
        #expect(Set(content.tests.map(\.fullName)).count == content.tests.count, "no test twice")
    }

    @Test(.corpus, arguments: refusals)
    func testThatItRefusesWithTheReason(file: String, reason: String) throws {
        let content = ReportReader.read(try Corpus.file(file).bytes(), fileName: "report.xml", root: root)
        #expect(content.problems.first?.hasPrefix("report unreadable: report.xml: ") == true)
        #expect(content.problems.first?.contains(reason) == true, "\(content.problems)")
    }

    @Test(.corpus) func testThatItTakesTheFailureOutOfTheConsoleInAMessage() throws {
        let bytes = try Corpus.file("samples/xunit-xctest-parallel-message.xml").bytes()
        let failed = try test("testFail", in: JUnitReader.read(bytes, root: root).tests)
        #expect(failed.suite == "TinyTests.TinyTests")
        #expect(failed.message == #"XCTAssertEqual failed: ("3") is not equal to ("4") - sum <wrong> & "quoted""#)
        #expect(failed.path == "Tests/TinyTests/TinyTests.swift")
        #expect(failed.line == 5)
    }

    @Test(arguments: [
        "<testsuite name='a' failures='1'><testcase name='b'/></testsuite>",
        "<testsuite name='a' errors='2' tests='0'/>",
    ])
    func testThatItSaysThatAReportContradictsItself(xml: String) {
        #expect(JUnitReader.read(Array(xml.utf8), root: root).problems.first?.contains("contradicts") == true)
    }

    @Test(arguments: [
        "<testsuite><testcase name='a'></testsuite></testcase>", "<testsuite><testcase name='a'/>", "<testsuite", "<",
        "<testsuite name='<'/>", "<testsuite>&undeclared;</testsuite>", "<testsuite/><testsuite/>", "<testsuite a=1/>",
        "<testsuite><testcase name='a'/></testsuites>", "<!-- -->", "<?xml version='1.0'?>",
        "<testsuite>]]></testsuite",
    ])
    func testThatMalformedXMLIsAProblem(xml: String) {
        #expect(JUnitReader.read(Array(xml.utf8), root: root).problems.count == 1)
    }

    @Test func testThatItReadsStatesGivenByAttributes() {
        let xml = """
            <testsuite name="s"><testcase name="a" status="fail"/><testcase name="b" status="notrun"/>
            <testcase name="c" status="run" result="suppressed"/><testcase name="d" status="disabled"/></testsuite>
            """
        #expect(TestCounts(of: JUnitReader.read(Array(xml.utf8), root: root).tests) == .init(4, failed: 1, skipped: 3))
    }

    @Test(.threat("P8")) func testThatItReadsWhatXMLForbids() {
        // given: control characters, references to them, and bytes that are not UTF-8
        let xml =
            Array("<testsuite name='s'><testcase name='a\u{1}'><failure message='&#x1b;[31mred&#0;'>".utf8)
            + [0xFF, 0xC0] + Array("</failure></testcase></testsuite>".utf8)
        // when
        let content = JUnitReader.read(xml, root: root)
        // then
        #expect(content.problems == [])
        #expect(content.tests.map(\.name) == ["a\u{FFFD}"])
        #expect(content.tests.first?.message?.contains("red") == true)
    }

    @Test(arguments: ["<?x?>", "<?x ?>", "<?xml-stylesheet href='a.xsl'?>", "<?x y?>\n<?z?>"])
    func testThatAProcessingInstructionSaysNothing(instruction: String) {
        // Some parsers dereference a null pointer for one without data.
        let xml =
            "\(instruction)<testsuite>\(instruction)<testcase name='a'>\(instruction)</testcase></testsuite>\(instruction)"
        let content = JUnitReader.read(Array(xml.utf8), root: root)
        #expect(content.problems == [])
        #expect(content.tests.map(\.name) == ["a"])
    }

    @Test(.threat("P8"), arguments: [false, true])
    func testThatItReadsUTF16(isBigEndian: Bool) {
        let xml = "\u{FEFF}<?xml version='1.0' encoding='UTF-16'?><testsuite name='s'><testcase name='ä'/></testsuite>"
        let bytes: [UInt8] = xml.utf16.flatMap { unit in
            let (high, low) = (UInt8(unit >> 8), UInt8(unit & 255))
            return isBigEndian ? [high, low] : [low, high]
        }
        let content = ReportReader.read(bytes, fileName: "a.xml", root: root)
        #expect(content.problems == [])
        #expect(content.tests.map(\.name) == ["ä"])
    }

    @Suite(.threat("P1")) struct GivenADocumentType {
        private static let document =
            "<!DOCTYPE a [<!ENTITY b 'c'>]><testsuite name='s'><testcase name='&b;'/></testsuite>"

        private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        private static let bigEndianMark: [UInt8] = [0xFE, 0xFF]
        private static let littleEndian: [UInt8] = document.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        private static let bigEndian: [UInt8] = document.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        static let forms: [[UInt8]] = [
            Array(document.utf8), Array("<?xml version='1.0'?><!-- c -->\(document)".utf8),
            byteOrderMark + Array(document.utf8), littleEndian, bigEndianMark + bigEndian,
        ]

        /// No parser may see it, in whatever form it is written.
        @Test(.proves(.reports, "xUnit and JUnit"), arguments: forms)
        func testThatItRefusesIt(bytes: [UInt8]) {
            let content = JUnitReader.read(bytes, root: SourceRoot(mountedAt: "/m"))
            #expect(content.problems == ["report unreadable: line 1: a document type (<!DOCTYPE) is not allowed"])
            #expect(content.tests == [])
        }

        @Test(arguments: ["UTF-7", "IBM037", "UTF-32", "gb18030"])
        func testThatItRefusesAnEncodingInWhichItCouldHide(encoding: String) {
            let xml = "<?xml version='1.0' encoding='\(encoding)'?><testsuite/>"
            let content = JUnitReader.read(Array(xml.utf8), root: SourceRoot(mountedAt: "/m"))
            #expect(content.problems.first?.contains("is not supported") == true)
        }

        @Test func testThatATestMayPrintOne() {
            let xml =
                "<testsuite><testcase name='a'><system-out><![CDATA[<!DOCTYPE html>]]></system-out></testcase></testsuite>"
            let content = JUnitReader.read(Array(xml.utf8), root: SourceRoot(mountedAt: "/m"))
            #expect(content.problems == [])
            #expect(content.tests.count == 1)
        }
    }

    @Suite struct GivenNoEnd {
        @Test func testThatItRefusesDeepNesting() {
            let xml = String(repeating: "<testsuite>", count: 20_000)
            let content = JUnitReader.read(Array(xml.utf8), root: SourceRoot(mountedAt: "/m"))
            #expect(content.problems.first?.contains("nested deeper than 100") == true)
        }

        @Test func testThatItCutsLongNamesAndMessages() {
            let long = String(repeating: "x", count: 100_000)
            let xml = "<testsuite><testcase name='\(long)'><failure>\(long)</failure></testcase></testsuite>"
            let tests = JUnitReader.read(Array(xml.utf8), root: SourceRoot(mountedAt: "/m")).tests
            #expect(tests.first?.name.utf8.count == TextLimit.nameBytes)
            #expect(tests.first?.message?.utf8.count == Finding.maximumMessageBytes)
        }

        @Test func testThatItKeepsTheTestsBeforeTheBreak() {
            let xml = "<testsuite><testcase name='a'><failure/></testcase><testcase name='b'"
            let content = JUnitReader.read(Array(xml.utf8), root: SourceRoot(mountedAt: "/m"))
            #expect(content.tests.map(\.name) == ["a"])
            #expect(content.problems.first?.contains("line 1") == true)
        }
    }
}
