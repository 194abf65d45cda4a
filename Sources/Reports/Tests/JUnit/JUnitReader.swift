/// A reader of JUnit XML in the dialects of Ant, Maven Surefire, Gradle, pytest, GoogleTest, Jest, Mocha, nextest, go-junit-report, SwiftPM and Swift
/// Testing.
///
/// There is no standard. The reader uses what these dialects have in common: `testcase` elements in `testsuite` elements, nested or not. It counts
/// the cases and does not use the counts that a file states.
package enum JUnitReader {
    /// Returns the report's tests in their order.
    ///
    /// A document type is refused, since it can define entities. Content that XML forbids but tools write (control characters, bytes that are not
    /// UTF-8) is replaced. A file that ends early gives the tests before the end and a problem. A case that failed and was then repeated until it
    /// passed is flaky: Surefire's `flakyFailure`, or the same case repeated.
    package static func read(_ bytes: [UInt8], root: SourceRoot) -> ReportContent {
        let document = JUnitDocument(root: root)
        return document.content(problem: XMLReport.read(bytes, into: document))
    }
}
