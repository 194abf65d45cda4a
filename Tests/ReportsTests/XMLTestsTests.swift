import Model
import TestSupport
import Testing

@testable import Reports

/// NUnit, xUnit.net, TRX, CppUnit and Boost.Test.
@Suite struct XMLTestsTests {
    private let root = SourceRoot(mountedAt: "/kit")

    private func read(_ xml: String) -> ReportContent {
        ReportReader.read(Array(xml.utf8), fileName: "a.xml", root: root)
    }

    private static let failure = """
        <failure><message><![CDATA[Expected: 1]]></message>
        <stack-trace><![CDATA[   at Kit.Tests.A.Fails() in /kit/tests/A.cs:line 12]]></stack-trace></failure>
        """

    @Test(.proves(.reports, "NUnit 2 and 3, xUnit.net, TRX, CppUnit, Boost.Test"))
    func testThatItReadsNUnit3() throws {
        let content = read(
            """
            <test-run total="5"><test-suite type="Assembly" name="Kit.dll" result="Failed"><failure><message>children</message></failure>
            <test-suite type="TestFixture" fullname="Kit.Tests.A" result="Failed">
            <test-case name="Passes" fullname="Kit.Tests.A.Passes" classname="Kit.Tests.A" result="Passed" duration="0.25"/>
            <test-case name="Fails" fullname="Kit.Tests.A.Fails" classname="Kit.Tests.A" result="Failed">\(Self.failure)</test-case>
            <test-case name="Off" fullname="Kit.Tests.A.Off" result="Skipped" label="Ignored"><reason><message>later</message></reason></test-case>
            <test-case name="Odd" fullname="Kit.Tests.A.Odd" result="Inconclusive"/>
            <test-case name="Warns" fullname="Kit.Tests.A.Warns" result="Warning"/></test-suite>
            <test-suite fullname="Kit.Tests.B" result="Failed" site="SetUp"><failure><message>no database</message></failure></test-suite>
            </test-suite></test-run>
            """)
        #expect(TestCounts(of: content.tests) == .init(6, failed: 2, skipped: 2))
        #expect(content.problems == [])
        let fails = try test("Fails", in: content.tests)
        #expect(fails.suite == "Kit.Tests.A")
        #expect(fails.message?.hasPrefix("Expected: 1\nat Kit.Tests.A") == true)
        #expect(fails.path == "tests/A.cs")
        #expect(fails.line == 12)
        #expect(try test("Off", in: content.tests).message == "later")
        #expect(try test("Passes", in: content.tests).duration == .seconds(0.25))
        #expect(try test("(suite)", in: content.tests).message == "no database")
    }

    @Test(.proves(.reports, "NUnit 2 and 3, xUnit.net, TRX, CppUnit, Boost.Test"))
    func testThatItReadsNUnit2() throws {
        let content = read(
            """
            <test-results total="4"><test-suite name="Kit"><results>
            <test-case name="Kit.A.Passes" executed="True" result="Success" success="True" time="0.5"/>
            <test-case name="Kit.A.Fails(&quot;a.b&quot;)" executed="True" result="Failure" success="False">\(Self.failure)</test-case>
            <test-case name="Kit.A.Off" executed="False" result="Ignored"><reason><message>later</message></reason></test-case>
            <test-case name="Kit.A.Errs" executed="True" success="False"/><test-case name="Kit.A.Old" executed="False"/>
            <test-case name="Kit.A.Invalid" executed="False" result="NotRunnable"/>
            </results></test-suite></test-results>
            """)
        #expect(TestCounts(of: content.tests) == .init(6, failed: 3, skipped: 2))
        #expect(try test("Fails(\"a.b\")", in: content.tests).suite == "Kit.A")
        #expect(try test("Off", in: content.tests).message == "later")
    }

    @Test(.proves(.reports, "NUnit 2 and 3, xUnit.net, TRX, CppUnit, Boost.Test"))
    func testThatItReadsXUnitNet() throws {
        let content = read(
            """
            <assemblies><assembly name="/b/Kit.Tests.dll" total="3" errors="1">
            <errors><error type="fixture" name="Db">\(Self.failure)</error></errors>
            <collection name="c"><test name="Kit.A.Passes" type="Kit.A" method="Passes" time="0.1" result="Pass"/>
            <test name="adds one" type="Kit.A" method="Adds" result="Fail">\(Self.failure)</test>
            <test name="Kit.A.Off" type="Kit.A" result="Skip"><reason><![CDATA[later]]></reason></test>
            <test name="Kit.A.Explicit" type="Kit.A" result="NotRun"/></collection></assembly></assemblies>
            """)
        #expect(TestCounts(of: content.tests) == .init(5, failed: 2, skipped: 2))
        #expect(try test("(fixture Db)", in: content.tests).suite == "Kit.Tests.dll")
        #expect(try test("Passes", in: content.tests).suite == "Kit.A")
        #expect(try test("adds one", in: content.tests).line == 12)
        #expect(try test("Off", in: content.tests).message == "later")
    }

    private static func trx(_ results: String, summary: String = "Completed") -> String {
        """
        <TestRun xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010"><Results>\(results)</Results>
        <TestDefinitions><UnitTest name="x" id="1"><TestMethod className="Kit.A" name="Passes"/></UnitTest>
        <UnitTest id="2"><TestMethod className="Kit.A, Kit, Version=1.0" name="Fails"/></UnitTest></TestDefinitions>
        <ResultSummary outcome="\(summary)"><Counters total="9"/><RunInfos><RunInfo outcome="Error"><Text>host crashed</Text></RunInfo>
        </RunInfos></ResultSummary></TestRun>
        """
    }

    @Test(.proves(.reports, "NUnit 2 and 3, xUnit.net, TRX, CppUnit, Boost.Test"))
    func testThatItReadsTRX() throws {
        let content = read(
            Self.trx(
                """
                <UnitTestResult testId="1" testName="Kit.A.Passes" duration="00:00:01.5000000" outcome="Passed"/>
                <UnitTestResult testId="2" testName="Fails" outcome="Failed"><Output><StdOut>noise</StdOut><ErrorInfo>
                <Message>Expected: 1</Message><StackTrace>at Kit.A.Fails() in /kit/A.cs:line 3</StackTrace></ErrorInfo></Output></UnitTestResult>
                <UnitTestResult testId="3" testName="Off" outcome="NotExecuted"/><UnitTestResult testId="4" testName="Odd"/>
                """, summary: "Failed"))
        #expect(TestCounts(of: content.tests) == .init(4, failed: 2, skipped: 1))
        #expect(content.problems == [])
        let passes = try test("Passes", in: content.tests)
        #expect(passes.suite == "Kit.A")
        #expect(passes.duration == .seconds(1.5))
        #expect(try test("Fails", in: content.tests).suite == "Kit.A")
        #expect(try test("Fails", in: content.tests).line == 3)
    }

    @Test func testThatARunThatFailedWithoutAFailingTestIsAProblem() {
        let one = "<UnitTestResult testId='1' testName='a' outcome='Passed'/>"
        let problems = read(Self.trx(one, summary: "Failed")).problems
        #expect(problems == ["a.xml: the run ended as Failed without any failing test: host crashed"])
    }

    @Test(.proves(.reports, "NUnit 2 and 3, xUnit.net, TRX, CppUnit, Boost.Test"))
    func testThatItReadsCppUnit() throws {
        let content = read(
            """
            <TestRun><FailedTests><FailedTest id="1"><Name>Math::sum</Name><Location><File>/kit/a.cpp</File><Line>56</Line></Location>
            <Message>  no  </Message></FailedTest></FailedTests>
            <SuccessfulTests><Test id="2"><Name>Math::neg</Name></Test></SuccessfulTests></TestRun>
            """)
        #expect(content.tests.map(\.fullName) == ["Math/sum", "Math/neg"])
        #expect(content.tests.map(\.outcome) == [.failed, .passed])
        #expect(content.tests.first?.path == "a.cpp")
        #expect(content.tests.first?.line == 56)
        #expect(content.tests.first?.message == "no")
    }

    @Test(.proves(.reports, "NUnit 2 and 3, xUnit.net, TRX, CppUnit, Boost.Test"))
    func testThatItReadsBoostTest() throws {
        let content = read(
            """
            <TestLog><TestSuite name="all"><TestCase name="a" file="a.cpp" line="3"><Info file="x" line="1">fine</Info><TestingTime>250</TestingTime></TestCase>
            <TestCase name="b"><Error file="/kit/b.cpp" line="9"><![CDATA[check x == 1 has failed]]></Error><Error file="/kit/b.cpp" line="11">more</Error></TestCase>
            <TestCase name="c" skipped="yes" reason="disabled"/><Exception file="/kit/f.cpp" line="2">fixture</Exception></TestSuite></TestLog>
            """)
        #expect(TestCounts(of: content.tests) == .init(4, failed: 2, skipped: 1))
        let failed = try test("b", in: content.tests)
        #expect(failed.message == "check x == 1 has failed")
        #expect(failed.path == "b.cpp")
        #expect(failed.line == 9)
        #expect(try test("a", in: content.tests).duration == .microseconds(250))
        #expect(try test("(suite)", in: content.tests).message == "fixture")
    }

    @Test(arguments: [
        "<test-run>", "<test-results>", "<assemblies>", "<TestRun>", "<TestLog>", "<checkstyle>",
        "<coverage line-rate='1'>",
    ])
    func testThatNoDialectTakesADocumentTypeOrABrokenEnd(begin: String) {
        #expect(read("<!DOCTYPE a [<!ENTITY b 'c'>]>" + begin).problems.first?.contains("document type") == true)
        #expect(read(begin).problems.first?.contains("not well-formed XML") == true)
    }
}
