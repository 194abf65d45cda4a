import Encodings
import Model

/// A reader of messages of `cargo build`, `check`, `clippy` and `test` with `--message-format json`.
enum CargoMessages {
    /// Returns errors and warnings at their primary places, and the tests if their events follow in the same stream. A build that did not finish, or
    /// did not succeed, is a problem.
    static func read(_ bytes: [UInt8], root: SourceRoot) -> ReportContent {
        var list = FindingList(root: root)
        var seen: Set<Finding> = []
        var isSuccess: Bool?
        var run = CargoTestRun(root: root)
        let problem = JSONLines.forEach(in: bytes) { line in
            switch line["reason"].string {
            case "build-finished": isSuccess = isSuccess ?? true && line["success"].bool ?? true
            case "compiler-message":
                guard let finding = finding(of: line["message"], root: root) else { return }
                // A library's messages are repeated when it is compiled for its tests.
                guard seen.count < ReportContent.maximumItems, seen.insert(finding).inserted else { return }
                list.add(
                    finding.message, rule: finding.rule, path: finding.path, line: finding.line, column: finding.column,
                    category: finding.category)
            case nil: run.consume(line)
            default: break
            }
        }
        switch isSuccess {
        case nil: list.problems.append("the messages of cargo end before the build does")
        case false: list.problems.append("cargo reports that the build failed")
        default: break
        }
        var content = list.content(unreadable: problem)
        guard run.suites > 0 else { return content }
        let tests = run.content()
        content.tests = tests.tests
        content.problems += tests.problems
        content.notes += tests.notes
        content.hasNoTests = tests.hasNoTests
        content.subject = .tests
        return content
    }

    private static func finding(of message: JSON, root: SourceRoot) -> Finding? {
        let text = message["message"].string ?? ""
        let isError = message["level"].string?.hasPrefix("error") == true
        guard isError || message["level"].string == "warning" else { return nil }
        let spans = message["spans"].elements ?? []
        let span = spans.first { $0["is_primary"].bool == true }
        // `2 warnings emitted` and `aborting due to 1 previous error` are counts of the other messages. A linker's error has no place.
        if span == nil, !isError || text.hasPrefix("aborting due to") { return nil }
        return Finding(
            category: isError ? .error : .warning, message: TextLimit.cut(text, toBytes: Finding.maximumMessageBytes),
            rule: message["code"]["code"].string ?? "", path: span?["file_name"].string,
            line: span?["line_start"].int, column: span?["column_start"].int)
    }
}
