import Encodings

/// A reader of the event stream that Swift Testing writes: `swift test --event-stream-output-path FILE --event-stream-version V`.
///
/// It supports versions 0 and 6.x (tested with Swift 6.3.1: the records of 6.3 have fewer keys and `issue.isFailure`). The stream does not contain
/// XCTest's tests.
package enum EventStreamReader {
    /// The longest line that is read, in bytes.
    package static let maximumLineBytes = 4 * 1024 * 1024

    /// Returns the tests in the order in which the stream lists them.
    ///
    /// A parameterized test is one test. A test that started and did not end has crashed. Warnings that a test records are findings and do not fail
    /// the test. A failure outside of a test is a finding, too. A line that is not JSON, or a stream that ends before its run does, is a problem.
    package static func read(_ bytes: [UInt8], root: SourceRoot) -> ReportContent {
        var stream = EventStream(root: root)
        var problem: String?
        var number = 0
        for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
            number += 1
            if line.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) { continue }
            guard line.count <= maximumLineBytes else {
                problem = problem ?? "event stream, line \(number): longer than \(maximumLineBytes) bytes"
                continue
            }
            do {
                let record = try JSON.parse(line)
                if let why = stream.consume(record) { problem = problem ?? "event stream, line \(number): \(why)" }
            } catch {
                problem = problem ?? "event stream, line \(number): \(error.text)"
            }
        }
        var content = stream.content()
        if let problem {
            content.problems.insert(contentsOf: ReportContent.unreadable(problem).problems, at: 0)
        } else if !stream.hasRecords {
            content.problems.append("report unreadable: the event stream is empty")
        }
        return content
    }
}
