import Model

/// Reads what `go test -json` writes and what `go test`, with `-v` or without, prints.
package struct GoTestReader: Sendable {
    private var run: GoTestRun
    private var lines: GoTestLines

    package init(root: SourceRoot) {
        run = GoTestRun(root: root)
        lines = GoTestLines()
    }

    /// Takes what a line of a console tells.
    package mutating func take(_ line: LogLine) {
        guard lines.isWithin || line.contains(Self.needles) || line.begins(with: "# ") else { return }
        lines.take(line.text, into: &run)
    }

    /// Whether a test is running, so that what other tools seem to say is its output.
    var isWithinTest: Bool { run.isBusy }

    /// Outside of a test's output no other line tells anything; what a terminal's sequence may part is looked at as well.
    private static let needles: Needles = ["=== ", "--- ", "ok  \t", "FAIL", "?   \t", "panic: ", "\u{1B}"]

    /// Returns the tests; `nil` if no package's result was among the lines.
    package mutating func finish() -> ReportContent? { lines.hasResult ? run.content() : nil }

    /// The report's tests in their order; subtests are tests of their own. Suites are packages.
    ///
    /// A test that started and has no end is crashed; a package that failed without a failing test is itself a failed test,
    /// `(package)`. Output that breaks off is a problem.
    package static func read(_ bytes: [UInt8], root: SourceRoot) -> ReportContent {
        var reader = GoTestReader(root: root)
        var problem: String?
        var number = 0
        for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
            number += 1
            guard line.first == UInt8(ascii: "{") else {
                // Before Go 1.24 what could not be built is said in between, for people.
                reader.lines.take(
                    String(decoding: line.prefix(LogLines.maximumLineBytes), as: UTF8.self), into: &reader.run)
                continue
            }
            guard line.count <= EventStreamReader.maximumLineBytes, let event = try? JSON.parse(line) else {
                // `try?`: which line it is says more than what the parser says of it.
                problem = problem ?? "line \(number): no JSON"
                continue
            }
            reader.take(event)
        }
        if reader.run.isEmpty, problem == nil { problem = "no event and no result of go test" }
        var content = reader.run.content()
        if let problem { content.problems.insert(contentsOf: ReportContent.unreadable(problem).problems, at: 0) }
        return content
    }

    /// `{"Action":"fail","Package":"kit/a","Test":"TestOne","Elapsed":0.1}`; what other tools add is passed over.
    private mutating func take(_ event: JSON) {
        let test = event["Test"].string
        if event["Action"].string == "build-output", let package = event["ImportPath"].string {
            // From Go 1.24 on.
            let text = (event["Output"].string ?? "").trimmingSuffix(while: \.isWhitespace)
            if !text.isEmpty, !text.hasPrefix("# ") { run.build(String(text), of: package) }
            return
        }
        guard let action = event["Action"].string, let package = event["Package"].string else { return }
        // Of a package without tests there may be output only.
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
            // The package's end, told as this test's: the process ended in the middle of it.
            if let test, text.hasPrefix("ok  \t" + package + "\t") { run.cut(test, package: package) }
            if let test, let told = GoTestLines.resultWithin(text.trimmingSuffix(while: \.isWhitespace)),
                told.name == test
            {
                run.unCut(test, package: package)
                run.tell(test, told.outcome, package: package)
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
