package import Model

/// A writer of tests as JUnit XML in the form that Surefire and most readers share, for other tools.
package enum JUnitWriter {
    /// A report, piece by piece, so that a report of many tests is never in memory as a whole. It has a suite for each configuration and suite, in
    /// the order of their first tests, with the counts of their tests.
    ///
    /// A crash is an `error`, any other failure a `failure`. A flaky test has passed, with a `flakyFailure` for the earlier failure. A known issue
    /// is skipped with a note. Characters that XML forbids are replaced. The same tests give the same bytes.
    package struct Pieces: Sequence, IteratorProtocol {
        private struct Suite {
            let name: String
            let configuration: String
            let tests: [TestResult]
        }

        /// The number of tests in one piece.
        private static let tests = 200

        private var pending: String?
        private var suites: ArraySlice<Suite>
        /// The number of tests of the first of `suites` that were written.
        private var written = 0
        private var hasEnded = false

        package init(_ configurations: [(name: String, tests: [TestResult])]) {
            var suites: [Suite] = []
            for configuration in configurations {
                var groups: [String: [TestResult]] = [:]
                var order: [String] = []
                for test in configuration.tests {
                    if groups[test.suite] == nil { order.append(test.suite) }
                    groups[test.suite, default: []].append(test)
                }
                suites += order.map {
                    Suite(
                        name: $0.isEmpty ? configuration.name : $0, configuration: configuration.name,
                        tests: groups[$0] ?? [])
                }
            }
            let counts = JUnitWriter.counts(configurations.flatMap(\.tests))
            self.suites = suites[...]
            pending = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites\(counts)>\n"
        }

        package mutating func next() -> [UInt8]? {
            if let text = pending {
                pending = nil
                return Array(text.utf8)
            }
            guard let suite = suites.first else {
                guard !hasEnded else { return nil }
                hasEnded = true
                return Array("</testsuites>\n".utf8)
            }
            var text = ""
            if written == 0 {
                text += "<testsuite name=\"\(escaped(suite.name))\"\(counts(suite.tests))>\n"
                text +=
                    "<properties><property name=\"configuration\" value=\"\(escaped(suite.configuration))\"/></properties>\n"
            }
            let piece = suite.tests[written..<Swift.min(suite.tests.count, written + Self.tests)]
            for test in piece { text += JUnitWriter.text(of: test) }
            written += piece.count
            if written == suite.tests.count {
                text += "</testsuite>\n"
                suites.removeFirst()
                written = 0
            }
            return Array(text.utf8)
        }
    }

    private static func counts(_ tests: [TestResult]) -> String {
        func count(_ outcomes: TestResult.Outcome...) -> Int { tests.count { outcomes.contains($0.outcome) } }
        let time = tests.compactMap(\.duration).reduce(Duration.zero, +)
        return " tests=\"\(tests.count)\" failures=\"\(count(.failed))\" errors=\"\(count(.crashed))\""
            + " skipped=\"\(count(.skipped, .knownIssue))\" time=\"\(seconds(time))\""
    }

    private static func text(of test: TestResult) -> String {
        var text = "<testcase classname=\"\(escaped(test.suite))\" name=\"\(escaped(test.name))\""
        if let duration = test.duration { text += " time=\"\(seconds(duration))\"" }
        if let path = test.path {
            text += " file=\"\(escaped(path))\""
            if let line = test.line { text += " line=\"\(line)\"" }
        }
        let message = test.message ?? ""
        switch test.outcome {
        case .passed: return text + "/>\n"
        case .failed: return text + ">" + element("failure", message) + "</testcase>\n"
        case .crashed: return text + ">" + element("error", message) + "</testcase>\n"
        case .flaky: return text + ">" + element("flakyFailure", message) + "</testcase>\n"
        case .skipped: return text + "><skipped message=\"\(escaped(message))\"/></testcase>\n"
        case .knownIssue: return text + "><skipped message=\"\(escaped("known issue: " + message))\"/></testcase>\n"
        }
    }

    /// Returns an element with the message's first line as an attribute, which lists show, and the whole message as the content.
    private static func element(_ name: String, _ message: String) -> String {
        let first = message.utf8.prefix { $0 != 0x0A }
        return "<\(name) message=\"\(escaped(String(Substring(first))))\">\(escaped(message))</\(name)>"
    }

    private static func seconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let milli = "\(attoseconds / 1_000_000_000_000_000)"
        return "\(seconds)." + String(repeating: "0", count: max(0, 3 - milli.utf8.count)) + milli
    }

    /// Escapes a text. Line feeds in attributes would be read as blanks, so they become references. Other forbidden characters become U+FFFD.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\n": escaped += "&#10;"
            case "\r": escaped += "&#13;"
            case "\t": escaped += "&#9;"
            case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
