import Model
import TestSupport
import Testing

@testable import Reports

@Suite struct CoverageReaderTests {
    private let root = SourceRoot(mountedAt: "/kit")

    private func read(_ text: String) -> ReportContent {
        ReportReader.read(Array(text.utf8), fileName: "a", root: root)
    }

    /// coverage.py 7.17 itself counts 4 of 13 lines and 3 of 4 branches.
    @Test(
        .proves(.reports, "Coverage of llvm-cov, lcov and Cobertura: totals, files, delta"),
        arguments: ["cobertura.xml", "coverage.lcov"])
    func testThatItReadsWhatToolsWrite(sample: String) throws {
        let content = ReportReader.read(try Samples.bytes(sample), fileName: sample, root: root)
        #expect(content.problems == [])
        let coverage = try #require(content.coverage)
        #expect(coverage.files.map(\.path) == ["a.py", "test_a.py"])
        #expect(coverage.lines == .init(covered: 4, total: 13))
        #expect(coverage.branches == .init(covered: 3, total: 4))
    }

    @Test(.proves(.reports, "Coverage of llvm-cov, lcov and Cobertura: totals, files, delta"))
    func testThatItReadsLLVM() throws {
        let file = { (name: String, covered: Int) in
            #"{"filename":"\#(name)","summary":{"lines":{"count":4,"covered":\#(covered)},"functions":{"count":2,"covered":1},"branches":{"count":0,"covered":0}}}"#
        }
        let content = read(
            #"{"data":[{"files":[\#(file("/kit/a.c", 3)),\#(file("/usr/b.h", 4)),\#(file("/kit/.build/c.c", 1))],"totals":{"lines":{"count":99,"covered":99}}}],"type":"llvm.coverage.json.export","version":"2.0.1"}"#
        )
        #expect(
            content.coverage?.files == [
                .init(path: "a.c", lines: .init(covered: 3, total: 4), functions: .init(covered: 1, total: 2))
            ])
        #expect(content.coverage?.lines.percent == 75, "what it says of its totals is not believed")
        #expect(content.notes == ["a: coverage of 2 files outside of the repository is left out"])
    }

    @Test func testThatALineThatOneTestCoversIsCovered() {
        let content = read(
            "TN:one\nSF:/kit/a.c\nDA:1,0\nDA:2,1\nend_of_record\nTN:two\nSF:/kit/a.c\nDA:1,3\nDA:3,0\nLF:9\nend_of_record\n"
        )
        #expect(content.coverage?.lines == .init(covered: 2, total: 3))
    }

    @Test func testThatClassesOfAFileAreOneFile() {
        let content = read(
            """
            <coverage line-rate="1"><sources><source>/kit/src</source></sources><packages><package><classes>
            <class filename="a.c"><methods><method><lines><line number="1" hits="0"/></lines></method></methods>
            <lines><line number="1" hits="0"/></lines></class>
            <class filename="a.c"><methods/><lines><line number="1" hits="2"/><line number="2" hits="0"/></lines></class>
            </classes></package></packages></coverage>
            """)
        #expect(
            content.coverage?.files == [
                .init(path: "src/a.c", lines: .init(covered: 1, total: 2), functions: .init(covered: 0, total: 1))
            ])
    }

    @Test(arguments: [
        ("SF:/kit/a.c\nDA:1,1\n", "it ends within the file /kit/a.c"),
        ("SF:a\nDA:x,1\nend_of_record\n", "line 2: no record of lcov"),
        ("SF:a\nSF:b\n", "before the one before it ends"), ("TN:\n", "the coverage report has no file"),
        ("SF:/usr/a.h\nDA:1,1\nend_of_record\n", "no file of the repository, but 1 file elsewhere"),
        (#"{"type":"llvm.coverage.json.export","version":"1.0","data":[]}"#, "version 1.0 is not supported"),
        (#"{"type":"llvm.coverage.json.export","version":"2.0.1"}"#, "without data"),
        ("<coverage/>", "not Cobertura's"),
        ("<coverage line-rate='0'/>", "the coverage report has no file"),
    ])
    func testThatNoCoverageIsAProblem(text: String, reason: String) {
        #expect(read(text).problems.first?.contains(reason) == true, "\(read(text).problems)")
    }
}
