import Foundation
import FoundationXML

/// Reads JUnit XML in the dialects of Ant, Maven Surefire, Gradle, pytest, GoogleTest, Jest, Mocha, nextest, go-junit-report,
/// SwiftPM and Swift Testing.
///
/// There is no standard; what is read is what these have in common: `testcase` elements in `testsuite` elements, nested or
/// not. The counts that a file states are not believed, the cases are counted.
package enum JUnitReader {
    /// The most nested elements; real reports have at most eight.
    package static let maximumDepth = 100

    /// The report's tests in their order.
    ///
    /// A document type is refused, since entities come with it. What XML forbids but tools write (control characters, bytes
    /// that are no UTF-8) is replaced. A file that breaks off gives the tests before the break and a problem. A case that
    /// failed and was then run again until it passed is flaky: Surefire's `flakyFailure`, or the same case repeated.
    package static func read(_ bytes: [UInt8], root: SourceRoot) -> ReportContent {
        let text: [UInt8]
        do {
            text = try XMLText.prepared(bytes)
        } catch {
            return .unreadable(error.text)
        }
        guard text.contains(where: { $0 > 0x20 }) else { return .unreadable("the file is empty") }
        let document = JUnitDocument(root: root)
        let parser = XMLParser(data: Data(text))
        parser.shouldProcessNamespaces = false
        parser.shouldResolveExternalEntities = false
        parser.externalEntityResolvingPolicy = .never
        parser.delegate = document
        let isComplete = parser.parse()
        if let refusal = document.refusal { return document.content(problem: refusal) }
        guard isComplete else {
            let code = (parser.parserError as NSError?)?.code ?? 0
            return document.content(
                problem: "line \(parser.lineNumber), column \(parser.columnNumber): not well-formed XML"
                    + (reasons[code].map { ", " + $0 } ?? " (libxml2's error \(code))"))
        }
        // Foundation's parser of Swift 6.3.1 calls a document that breaks off a good one.
        guard document.isClosed else {
            return document.content(
                problem:
                    "line \(parser.lineNumber), column \(parser.columnNumber): not well-formed XML, it ends too early")
        }
        return document.content(problem: nil)
    }

    /// libxml2's error numbers (`libxml/xmlerror.h`) that a cut or careless report has.
    private static let reasons: [Int: String] = [
        4: "nothing there", 5: "it ends too early", 26: "an entity that is not declared", 38: "a < in an attribute",
        39: "an attribute without quotes", 41: "an attribute without a value", 42: "an attribute twice",
        63: "a CDATA section without an end", 68: "a name is missing", 73: "a > is missing",
        76: "an element is closed by another's end", 77: "it ends within an element",
    ]
}
