/// Reads JUnit XML in the dialects of Ant, Maven Surefire, Gradle, pytest, GoogleTest, Jest, Mocha, nextest, go-junit-report,
/// SwiftPM and Swift Testing.
///
/// There is no standard; what is read is what these have in common: `testcase` elements in `testsuite` elements, nested or
/// not. The counts that a file states are not believed, the cases are counted.
package enum JUnitReader {
    /// The report's tests in their order.
    ///
    /// A document type is refused, since entities come with it. What XML forbids but tools write (control characters, bytes
    /// that are no UTF-8) is replaced. A file that breaks off gives the tests before the break and a problem. A case that
    /// failed and was then run again until it passed is flaky: Surefire's `flakyFailure`, or the same case repeated.
    package static func read(_ bytes: [UInt8], root: SourceRoot) -> ReportContent {
        let document = JUnitDocument(root: root)
        return document.content(problem: XMLReport.read(bytes, into: document))
    }
}
