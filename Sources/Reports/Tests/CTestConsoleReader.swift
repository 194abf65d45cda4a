import Model

/// A reader of the output of `ctest`, with `--output-on-failure`, `--verbose` or neither.
package struct CTestConsoleReader: Sendable {
    /// If there are ten tests or more, their numbers have one width: `Test  #1:`.
    private static let needles: Needles = [
        "Test #", "Test  #", "Test   #", "Test    #", "Test     #", " Start ", "Test project ", "% tests passed",
        "No tests were found",
    ]

    private var tests: [TestResult] = []
    private var places: [Int: Int] = [:]
    /// The names of the project's started tests, by number.
    private var started: [Int: String] = [:]
    private var announced = 0
    private var problems: [String] = []
    /// The number of tests of the tested project, as each result states it.
    private var total: Int?
    /// The index in `tests` of the project's first test.
    private var first = 0
    /// The number of failures in the last summary. It is the project's own unless a result of the project follows, since a test's output can quote
    /// one.
    private var summarized: Int?
    private var hasProject = false
    private var hasSummary = false
    private var failed: Int?
    /// The index of the failed test whose output the next lines are; `nil` if there is none.
    private var current: Int?

    package init(root: SourceRoot) {}

    /// Whether the output of a test is being printed. It may contain lines that look like other tools' output.
    var isWithinTest: Bool { current != nil }

    /// Reads a line.
    package mutating func consume(_ line: LogLine) {
        guard line.contains(Self.needles) else {
            if let current { output(line.text, of: current) }
            return
        }
        let text = line.text
        if text.hasPrefix("Test project "), current == nil {
            // A new run begins, so numbers start again.
            endProject()
            (hasProject, hasSummary, places, total, first) = (true, false, [:], nil, tests.count)
            (started, announced) = ([:], 0)
        } else if let range = text.range(ofFirst: "% tests passed"), text[..<range.lowerBound].allSatisfy(\.isNumber) {
            summary(text)
        } else if text.hasPrefix("No tests were found") {
            hasSummary = true
        } else if hasProject {
            result(text[...])
        }
    }

    /// Reads a result such as ` 2/8 Test #2: fails ............................***Failed    0.00 sec`.
    private mutating func result(_ line: Substring) {
        guard tests.count < ReportContent.maximumItems, let mark = line.range(ofFirst: "Test "),
            let slash = line[..<mark.lowerBound].range(ofFirst: "/"),
            line[..<slash.lowerBound].allSatisfy({ $0 == " " || $0.isNumber }),
            let total = TAPLine.number(
                line[slash.upperBound..<mark.lowerBound].drop { $0 == " " }.prefix { $0 != " " }),
            let hash = line[mark.upperBound...].range(ofFirst: "#"),
            line[mark.upperBound..<hash.lowerBound].allSatisfy({ $0 == " " }),
            let colon = line[hash.upperBound...].range(ofFirst: ": "),
            let number = TAPLine.number(line[hash.upperBound..<colon.lowerBound])
        else {
            if let start = Self.start(line) {
                current = nil
                if started.count < ReportContent.maximumItems { started[start.number] = start.name }
                return
            }
            return output(String(line))
        }
        announced = max(announced, total)
        // A failed test's output can quote another run.
        guard self.total == nil || self.total == total else { return output(String(line)) }
        let rest = line[colon.upperBound...]
        guard let (name, outcome, reason) = Self.outcome(rest) else { return }
        if let place = places[number], tests[place].name != TextLimit.cut(name, toBytes: TextLimit.nameBytes) {
            return output(String(line))
        }
        (self.total, summarized) = (total, nil)
        var result = TestResult(suite: "", name: TextLimit.cut(name, toBytes: TextLimit.nameBytes), outcome: outcome)
        if outcome != .passed { result.message = reason }
        let words = rest.split(separator: " ")
        if words.last == "sec", words.count > 1, let seconds = Double(words[words.count - 2]), seconds >= 0,
            seconds < 1e9
        {
            result.duration = .seconds(seconds)
        }
        // The same number again means that the test ran again: `--repeat until-pass`.
        if let place = places[number], tests[place].name == result.name {
            if tests[place].outcome.isFailure, outcome == .passed { result.outcome = .flaky }
            if result.outcome == .flaky { result.message = tests[place].message }
            tests[place] = result
            current = place
            return
        }
        places[number] = tests.count
        current = outcome.isFailure ? tests.count : nil
        tests.append(result)
    }

    private mutating func output(_ text: String) {
        if let current { output(text, of: current) }
    }

    /// Returns the name, the outcome and the reason; `nil` for other text. CTest prints English only.
    private static func outcome(_ text: Substring) -> (name: String, TestResult.Outcome, reason: String)? {
        if let range = text.range(ofLast: "***") {
            let name = text[..<range.lowerBound].trimmingSuffix { $0 == "." || $0 == " " }
            var words = text[range.upperBound...].trimmingSuffix(while: \.isWhitespace)
            if words.hasSuffix(" sec") {
                words = words.dropLast(4).trimmingSuffix { $0 == "." || $0.isNumber }.trimmingSuffix { $0 == " " }
            }
            let reason = TextLimit.cut(String(words), toBytes: 500)
            if words.hasPrefix("Skipped") || words.hasPrefix("Not Run (Disabled)") {
                return (String(name), .skipped, reason)
            }
            return (String(name), words.hasPrefix("Exception") ? .crashed : .failed, reason)
        }
        guard let range = text.range(ofLast: "   Passed ") else { return nil }
        return (String(text[..<range.lowerBound].trimmingSuffix { $0 == "." || $0 == " " }), .passed, "")
    }

    private mutating func output(_ text: String, of index: Int) {
        if text.hasPrefix("The following tests") { return current = nil }
        tests[index].message.append(line: text)
    }

    /// Reads a summary such as `43% tests passed, 4 tests failed out of 7`.
    private mutating func summary(_ text: String) {
        current = nil
        let words = text.split(separator: " ")
        guard let place = words.firstIndex(of: "failed"), place > 1 else { return }
        summarized = TAPLine.number(words[place - 2])
    }

    /// Reads `    Start 2: fails`. From ten tests on there are more spaces before the number.
    private static func start(_ line: Substring) -> (number: Int, name: String)? {
        guard line.hasPrefix("    ") else { return nil }
        let text = line.drop { $0 == " " }
        guard text.hasPrefix("Start "), let colon = text.range(ofFirst: ": "),
            let number = TAPLine.number(text[..<colon.lowerBound].dropFirst("Start ".count).drop { $0 == " " })
        else { return nil }
        return (number, TextLimit.cut(String(text[colon.upperBound...]), toBytes: TextLimit.nameBytes))
    }

    /// Ends the tested project. If its output ends without a summary, each started test without a result has crashed. If there is a summary, there
    /// must be as many results as each of them states.
    private mutating func endProject() {
        believeSummary()
        guard hasProject else { return }
        let found = tests.count - first
        if !hasSummary {
            for number in started.keys.sorted() where places[number] == nil {
                tests.append(
                    TestResult(
                        suite: "", name: started[number] ?? "", outcome: .crashed, message: "started and never ended"))
            }
            if found > 0 || !started.isEmpty {
                problems.append("the output of ctest ends before its \(announced.counting("test")) do")
            }
        } else if let total, found < total {
            problems.append("ctest announced \(total.counting("test")), but \(found) came")
        }
    }

    /// Treats the last summary as the project's own. If it counts no failure, apparent failures come from a test's output and are removed.
    private mutating func believeSummary() {
        guard let count = summarized else { return }
        (failed, hasSummary, summarized) = (count, true, nil)
        if count == 0 { tests[first...].removeAll { $0.outcome.isFailure } }
    }

    /// Returns the tests; `nil` if CTest did not run. A run without a summary, or with failures that no test shows, is a problem.
    package mutating func finish() -> ReportContent? {
        endProject()
        guard hasProject, !tests.isEmpty || hasSummary else { return nil }
        var content = ReportContent(tests: JUnitRetries.numbered(tests), problems: problems)
        let found = tests.count(where: \.outcome.isFailure)
        if let failed, failed > 0, found == 0 {
            content.problems.append("ctest says that \(failed.counting("test")) failed, but it names none")
        }
        return content
    }

    /// Returns the report's tests in their order.
    package static func read(_ bytes: [UInt8], root: SourceRoot) -> ReportContent {
        var reader = CTestConsoleReader(root: root)
        LogLines.forEach(in: bytes) { reader.consume($0) }
        return reader.finish() ?? .unreadable("no output of a ctest that ran")
    }
}
