import Model

/// A collector of the files of a coverage report. Files outside of the repository, and files below `.build`, are left out.
struct CoverageList {
    let root: SourceRoot
    private var files: [Coverage.File] = []
    private var elsewhere = 0
    private(set) var problem: String?

    /// The most files that are read.
    static let maximumFiles = 100_000

    init(root: SourceRoot) { self.root = root }

    mutating func add(
        path: String, lines: Coverage.Share, functions: Coverage.Share? = nil, branches: Coverage.Share? = nil
    ) {
        guard let relative = root.relative(path), !relative.hasPrefix(".build/") else {
            elsewhere += 1
            return
        }
        guard files.count < Self.maximumFiles else {
            problem = problem ?? "more than \(Self.maximumFiles) files of coverage; the others are not read"
            return
        }
        files.append(Coverage.File(path: relative, lines: lines, functions: functions, branches: branches))
    }

    /// Returns the coverage. A report without a file of the repository is a problem, not an empty coverage.
    func content(unreadable: String?) -> ReportContent {
        var content = ReportContent(problems: problem.map { [$0] } ?? [])
        if let unreadable {
            content.problems.insert(contentsOf: ReportContent.unreadable(unreadable).problems, at: 0)
        } else if files.isEmpty {
            content.problems.append(
                elsewhere == 0
                    ? "the coverage report has no file"
                    : "the coverage report has no file of the repository, but \(elsewhere.counting("file")) elsewhere")
        }
        if !files.isEmpty { content.coverage = Coverage(files: files) }
        if elsewhere > 0, !files.isEmpty {
            content.notes.append("coverage of \(elsewhere.counting("file")) outside of the repository is left out")
        }
        return content
    }
}
