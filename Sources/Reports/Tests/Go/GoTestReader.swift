import Encodings
import Model

/// A reader of the output of `go test`, with `-json`, with `-v` or with neither.
package struct GoTestReader: Sendable {
    private var run: GoTestRun
    private var lines: GoTestLines

    package init(root: SourceRoot) {
        run = GoTestRun(root: root)
        lines = GoTestLines()
    }

    /// Reads a line of a console.
    package mutating func consume(_ line: LogLine) {
        guard lines.isWithin || line.contains(Self.needles) || line.begins(with: "# ") else { return }
        lines.consume(line.text, into: &run)
    }

    /// Whether a test is running, so that lines that look like other tools' output are its output.
    var isWithinTest: Bool { run.isBusy }

    /// The texts in lines that matter outside of a test's output. Lines with a terminal sequence, which may split such a text, are read as well.
    private static let needles: Needles = ["=== ", "--- ", "ok  \t", "FAIL", "?   \t", "panic: ", "\u{1B}"]

    /// Returns the tests; `nil` if there was no package's result.
    package mutating func finish() -> ReportContent? { lines.hasResult ? run.content() : nil }

    /// Returns the report's tests in their order; subtests are separate tests. Suites are packages.
    ///
    /// A test that started and did not end has crashed. A package that failed without a failing test is itself a failed test, `(package)`. Output
    /// that ends early is a problem.
    package static func read(_ bytes: [UInt8], root: SourceRoot) -> ReportContent {
        var reader = GoTestReader(root: root)
        var problem: String?
        var number = 0
        for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
            number += 1
            guard line.first == UInt8(ascii: "{") else {
                // Before Go 1.24, build errors are printed between the events, in human-readable form.
                reader.lines.consume(
                    String(decoding: line.prefix(LogLines.maximumLineBytes), as: UTF8.self), into: &reader.run)
                continue
            }
            guard line.count <= EventStreamReader.maximumLineBytes, let event = try? JSON.parse(line) else {
                // `try?` is used because the line's number is more useful than the parser's message.
                problem = problem ?? "line \(number): no JSON"
                continue
            }
            reader.consume(event)
        }
        if reader.run.isEmpty, problem == nil { problem = "no event and no result of go test" }
        var content = reader.run.content()
        if let problem { content.problems.insert(contentsOf: ReportContent.unreadable(problem).problems, at: 0) }
        return content
    }

    /// Reads an event such as `{"Action":"fail","Package":"kit/a","Test":"TestOne","Elapsed":0.1}`. Events that other tools add are skipped.
    private mutating func consume(_ event: JSON) {
        let test = event["Test"].string
        if event["Action"].string == "build-output", let package = event["ImportPath"].string {
            // These events exist since Go 1.24.
            let text = (event["Output"].string ?? "").trimmingSuffix(while: \.isWhitespace)
            if !text.isEmpty, !text.hasPrefix("# ") { run.build(String(text), of: package) }
            return
        }
        guard let action = event["Action"].string, let package = event["Package"].string else { return }
        // A package without tests may have only output events.
        if action == "start" || test != nil { run.begin(package) }
        if test == nil, ["start", "pass", "fail", "skip"].contains(action) { run.endCut(nil, package: package) }
        switch (action, test) {
        case ("run", let test?): run.start(test, package: package)
        case ("output", _):
            let text = event["Output"].string ?? ""
            let isMark = ["=== ", "--- ", "PASS\n", "FAIL\n", "FAIL\t", "ok  \t"].contains {
                text.trimmingPrefix { $0 == " " }.hasPrefix($0)
            }
            if text == "PASS\n" || text == "FAIL\n" { run.finish(package) }
            if !isMark { run.output(text, test: test, package: package) }
            // The package's end line appears as this test's output: the process ended during the test.
            if let test, text.hasPrefix("ok  \t" + package + "\t") { run.cut(test, package: package) }
            if let test, let reported = GoTestLines.resultWithin(text.trimmingSuffix(while: \.isWhitespace)),
                reported.name == test
            {
                run.unCut(test, package: package)
                run.tell(test, reported.outcome, package: package)
            }
        case ("pause", let test?): run.pause(test, package: package)
        case ("cont", let test?): run.goOn(test, package: package)
        case ("pass", let test?) where run.endCut(test, package: package): break
        case ("pass", let test?): run.end(test, .passed, seconds: event["Elapsed"].double, package: package)
        case ("fail", let test?): run.end(test, .failed, seconds: event["Elapsed"].double, package: package)
        case ("skip", let test?): run.end(test, .skipped, seconds: event["Elapsed"].double, package: package)
        case ("pass", nil): run.endPackage(package, isFailed: false)
        case ("skip", nil): run.endPackage(package, isFailed: false, isEmpty: true)
        case ("fail", nil): run.endPackage(package, isFailed: true)
        default: break
        }
    }
}
