import Model

/// Messages of `cargo build`, `check` and `clippy` with `--message-format json`.
enum CargoMessages {
    /// Errors and warnings at their primary place. A build that did not finish is a problem.
    static func read(_ bytes: [UInt8], root: SourceRoot) -> ReportContent {
        var list = FindingList(root: root)
        var seen: Set<Finding> = []
        var isFinished = false
        let problem = JSONLines.forEach(in: bytes) { line in
            switch line["reason"].string {
            case "build-finished": isFinished = true
            case "compiler-message":
                guard let finding = finding(of: line["message"], root: root) else { return }
                // A library's are there again for its tests.
                guard seen.count < ReportContent.maximumItems, seen.insert(finding).inserted else { return }
                list.add(
                    finding.message, rule: finding.rule, path: finding.path, line: finding.line, column: finding.column,
                    category: finding.category)
            default: break
            }
        }
        if !isFinished { list.problems.append("the messages of cargo end before the build does") }
        return list.content(unreadable: problem)
    }

    private static func finding(of message: JSON, root: SourceRoot) -> Finding? {
        let text = message["message"].string ?? ""
        let isError = message["level"].string?.hasPrefix("error") == true
        guard isError || message["level"].string == "warning" else { return nil }
        let spans = message["spans"].elements ?? []
        guard let span = spans.first(where: { $0["is_primary"].bool == true }) else {
            // `2 warnings emitted`, `aborting due to 1 previous error`: counts of the others.
            return nil
        }
        return Finding(
            category: isError ? .error : .warning, message: TextLimit.cut(text, toBytes: Finding.maximumMessageBytes),
            rule: message["code"]["code"].string ?? "", path: span["file_name"].string, line: span["line_start"].int,
            column: span["column_start"].int)
    }
}
