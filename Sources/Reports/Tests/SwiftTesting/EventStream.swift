import Encodings
import Model

/// The state of reading an event stream, record by record.
struct EventStream {
    private struct Function {
        var suite: String
        var name: String
        var path: String?
        var line: Int?
        var startedAt: Double?
        var endedAt: Double?
        var skipReason: String?
        var failures: [String] = []
        var knownIssues: [String] = []
        var failurePath: String?
        var failureLine: Int?
    }

    private let root: SourceRoot
    /// The test functions by test ID. `order` contains the IDs in the order in which they were listed.
    private var functions: [String: Function] = [:]
    private var order: [String] = []
    private var skippedSuites: Set<String> = []
    private var findings: [Finding] = []
    private var hasRunStarted = false
    /// The number of runs that have started and not ended.
    private var openRuns = 0
    private(set) var hasRecords = false

    private static let maximumMessages = 50
    /// The most nested suites that are checked. `maximumIDBytes` is the longest ID of a test, in bytes.
    private static let maximumSuites = 32
    private static let maximumIDBytes = 4096

    init(root: SourceRoot) { self.root = root }

    /// Reads a record.
    /// - Returns: The problem with the record; `nil` if it was understood, or is of a kind that is not needed.
    mutating func consume(_ record: JSON) -> String? {
        guard record.isObject else { return "not a record" }
        let version = record["version"]
        guard version.int == 0 || version.string == "0" || version.string?.hasPrefix("6.") == true else {
            return "version \(version.string ?? version.int.map(String.init) ?? "?") is not supported; 0 and 6.x are"
        }
        hasRecords = true
        let payload = record["payload"]
        switch record["kind"].string {
        case "test": return define(payload)
        case "event": return happen(payload)
        default: return nil
        }
    }

    private mutating func define(_ test: JSON) -> String? {
        guard let id = test["id"].string else { return "a test without an id" }
        guard id.utf8.count <= Self.maximumIDBytes else { return "a test's id of \(id.utf8.count) bytes" }
        guard test["kind"].string == "function", functions[id] == nil else { return nil }
        guard order.count < ReportContent.maximumItems else { return "more than \(ReportContent.maximumItems) tests" }
        let location = place(test["sourceLocation"])
        let (suite, name) = Self.suiteAndName(id: id, name: test["name"].string)
        functions[id] = Function(suite: suite, name: name, path: location?.path, line: location?.line)
        order.append(id)
        return nil
    }

    private mutating func happen(_ event: JSON) -> String? {
        let id = event["testID"].string
        let at = event["instant"]["absolute"].double
        switch event["kind"].string {
        case "runStarted":
            hasRunStarted = true
            openRuns += 1
        case "runEnded": openRuns -= 1
        case "testStarted":
            if let id { functions[id]?.startedAt = at ?? 0 }
        case "testEnded":
            if let id { functions[id]?.endedAt = at ?? 0 }
        case "testSkipped", "testCancelled":
            guard let id else { return nil }
            if functions[id] == nil { skippedSuites.insert(id) }
            functions[id]?.skipReason = Self.skipReason(event)
        case "issueRecorded": record(event, id: id)
        default: break
        }
        return nil
    }

    private mutating func record(_ event: JSON, id: String?) {
        let issue = event["issue"]
        let isKnown = issue["isKnown"].bool ?? false
        let isWarning = issue["severity"].string == "warning"
        var message = (event["messages"].elements ?? []).compactMap { $0["text"].string }.joined(separator: "\n")
        if let arguments = event["_testCase"]["displayName"].string { message += "\nwith arguments: \(arguments)" }
        message = TextLimit.cut(message.isEmpty ? "issue recorded" : message, toBytes: 4096)
        let location = place(issue["sourceLocation"]) ?? place(event["_sourceLocation"])
        let isFailure = issue["isFailure"].bool ?? (!isKnown && !isWarning)
        if let id, var function = functions[id], isFailure || isKnown {
            if isFailure {
                if function.failures.count < Self.maximumMessages { function.failures.append(message) }
                if function.failurePath == nil {
                    (function.failurePath, function.failureLine) = (location?.path, location?.line)
                }
            } else if function.knownIssues.count < Self.maximumMessages {
                function.knownIssues.append(message)
            }
            functions[id] = function
        } else if isFailure || isWarning, findings.count < DiagnosticReader.maximumFindings {
            // A failure outside of a test, or a warning, becomes a finding, since no test's outcome shows it.
            let rule = id.flatMap { functions[$0].map { $0.suite + "/" + $0.name } ?? $0 } ?? ""
            findings.append(
                Finding(
                    category: isFailure ? .testFailure : .warning, message: message,
                    rule: TextLimit.cut(rule, toBytes: TextLimit.nameBytes), path: location?.path, line: location?.line)
            )
        }
    }

    func content() -> ReportContent {
        var content = ReportContent(findings: findings)
        var neverStarted = 0
        // The indexes of tests that were running at the end.
        var open: [Int] = []
        for id in order {
            guard let function = functions[id] else { continue }
            var result = TestResult(
                suite: function.suite, name: function.name, outcome: .passed, path: function.path, line: function.line)
            if let start = function.startedAt, let end = function.endedAt, end >= start, end - start < 1e9 {
                result.duration = .seconds(end - start)
            }
            let isCrashed = function.startedAt != nil && function.endedAt == nil && function.skipReason == nil
            if isCrashed || !function.failures.isEmpty {
                if isCrashed { open.append(content.tests.count) }
                result.outcome = isCrashed ? .crashed : .failed
                result.message = Self.joined(function.failures)
                if function.failurePath != nil {
                    (result.path, result.line) = (function.failurePath, function.failureLine)
                }
            } else if let reason = function.skipReason {
                result.outcome = .skipped
                result.message = reason.isEmpty ? nil : reason
            } else if !function.knownIssues.isEmpty {
                result.outcome = .knownIssue
                result.message = Self.joined(function.knownIssues)
            } else if function.startedAt == nil {
                let isSkipped = isInSkippedSuite(id)
                guard isSkipped || isCutOff else {
                    neverStarted += 1
                    continue
                }
                result.outcome = .skipped
                if !isSkipped { result.message = CrashedProcess.neverBegun }
            }
            content.tests.append(result)
        }
        numberEqualNames(&content.tests)
        endOpen(open, in: &content.tests)
        if neverStarted > 0 {
            content.notes.append(
                neverStarted.counting("test") + (neverStarted == 1 ? " was" : " were") + " never started")
        }
        if isCutOff { content.problems.append("the event stream ends before its test run does") }
        if !hasRunStarted, !order.isEmpty {
            content.problems.append("the event stream ends before its test run begins")
        }
        return content
    }

    /// Whether the process ended before the run did. Tests that it had not started then did not run. In a complete run, such tests were not selected.
    private var isCutOff: Bool { hasRunStarted && openRuns > 0 }

    /// Decides the outcomes of tests that were running at the end. One process runs all tests concurrently. If several were running when it ended,
    /// the stream does not show which one caused it. Therefore one added test has crashed, and the running ones did not run to their end.
    private func endOpen(_ open: [Int], in tests: inout [TestResult]) {
        guard open.count > 1 else { return }
        let names = open.map { tests[$0].fullName }
        for index in open {
            if tests[index].message != nil {
                tests[index].outcome = .failed
            } else {
                (tests[index].outcome, tests[index].message) = (.skipped, CrashedProcess.notRun)
            }
        }
        tests.append(
            TestResult(
                suite: "", name: CrashedProcess.testName, outcome: .crashed,
                message: CrashedProcess.message("", running: names)))
    }

    /// Numbers tests of one name, such as overloads: the second from top to bottom gets ` (2)`. (`swift test list` adds the line instead, which
    /// changes with every edit above it.)
    private func numberEqualNames(_ tests: inout [TestResult]) {
        var groups: [String: [Int]] = [:]
        for (index, test) in tests.enumerated() { groups[test.fullName, default: []].append(index) }
        for group in groups.values where group.count > 1 {
            let sorted = group.sorted { left, right in
                (tests[left].path ?? "", tests[left].line ?? 0, left) < (
                    tests[right].path ?? "", tests[right].line ?? 0, right
                )
            }
            for (number, index) in sorted.enumerated() where number > 0 { tests[index].name += " (\(number + 1))" }
        }
    }

    private func isInSkippedSuite(_ id: String) -> Bool {
        guard !skippedSuites.isEmpty else { return false }
        var end = id.utf8.startIndex
        for _ in 0..<Self.maximumSuites {
            guard let slash = id.utf8[end...].firstIndex(of: UInt8(ascii: "/")) else { return false }
            if skippedSuites.contains(String(id[..<slash])) { return true }
            end = id.utf8.index(after: slash)
        }
        return false
    }

    private func place(_ location: JSON) -> (path: String, line: Int?)? {
        guard let path = location["filePath"].string ?? location["_filePath"].string else { return nil }
        return (root.shown(path), location["line"].int)
    }

    private static func joined(_ messages: [String]) -> String? {
        messages.isEmpty ? nil : TextLimit.cut(messages.joined(separator: "\n"), toBytes: Finding.maximumMessageBytes)
    }

    /// Returns the reason in a text such as `Test one() skipped: "off"`; empty if there is none.
    private static func skipReason(_ event: JSON) -> String {
        let text = event["messages"][0]["text"].string ?? ""
        guard let range = text.range(ofFirst: " skipped: ") else { return "" }
        var reason = text[range.upperBound...]
        if reason.count > 1, reason.first == "\"", reason.last == "\"" { reason = reason.dropFirst().dropLast() }
        return TextLimit.cut(String(reason), toBytes: 1000)
    }

    /// Returns the suite and name of a test's ID. `KitTests.Outer/Inner/works()/File.swift:7:25` is `works()` of the suite `KitTests.Outer/Inner`.
    /// The suite of a function outside of suites, such as `KitTests.free()/File.swift:3:2`, is its module, as in xUnit files.
    private static func suiteAndName(id: String, name: String?) -> (suite: String, name: String) {
        var rest = Substring(id)
        if let slash = rest.lastIndex(of: "/"), PrintedPlace(rest[rest.index(after: slash)...]) != nil {
            rest = rest[..<slash]
        }
        func cut(_ text: some StringProtocol) -> String { TextLimit.cut(String(text), toBytes: TextLimit.nameBytes) }
        if let name, rest.hasSuffix(name), rest.utf8.count > name.utf8.count {
            let suite = rest.dropLast(name.count)
            if suite.last == "/" || suite.last == "." { return (cut(suite.dropLast()), cut(name)) }
        }
        return ListedTests.split(String(rest)).map { (cut($0.suite), cut($0.name)) } ?? ("", cut(name ?? String(rest)))
    }
}
