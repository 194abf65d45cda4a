import Model

/// A collector of the findings of an analyzer's report.
struct FindingList {
    let root: SourceRoot
    private(set) var findings: [Finding] = []
    var problems: [String] = []
    private var isFull = false

    init(root: SourceRoot) { self.root = root }

    /// Adds a finding.
    /// - Parameters:
    ///   - line: The line; `nil`, or less than 1, if there is none.
    ///   - path: The path as the tool printed it.
    mutating func add(
        _ message: String, rule: String?, path: String?, line: Int?, column: Int? = nil,
        category: Finding.Category = .analyzerWarning
    ) {
        guard findings.count < ReportContent.maximumItems else {
            if !isFull { problems.append("more than \(ReportContent.maximumItems) results; the others are not read") }
            isFull = true
            return
        }
        let text = message.trimmingPrefix(while: \.isWhitespace).trimmingSuffix(while: \.isWhitespace)
        let path = path.flatMap { $0.isEmpty ? nil : root.shown($0) }
        let line = path == nil ? nil : line.flatMap { (1..<1_000_000_000).contains($0) ? $0 : nil }
        findings.append(
            Finding(
                category: category,
                message: TextLimit.cut(
                    text.isEmpty ? rule ?? "no text" : String(text), toBytes: Finding.maximumMessageBytes),
                rule: TextLimit.cut(rule ?? "", toBytes: TextLimit.nameBytes), path: path, line: line,
                column: line == nil ? nil : column.flatMap { (1..<1_000_000_000).contains($0) ? $0 : nil }))
    }

    /// Adds a problem unless there already is one, since a report may have the same problem in each file.
    mutating func addOnce(problem: String) { if problems.isEmpty { problems.append(problem) } }

    func content(unreadable: String?) -> ReportContent {
        var content = ReportContent(findings: findings, problems: problems)
        if let unreadable { content.problems.insert(contentsOf: ReportContent.unreadable(unreadable).problems, at: 0) }
        return content
    }
}
