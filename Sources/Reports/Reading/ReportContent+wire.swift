import Model

extension WireWriter {
    mutating func add(_ finding: Finding) {
        add(Finding.Category.allCases.firstIndex(of: finding.category) ?? 0)
        add(finding.message)
        add(finding.rule)
        add(optional: finding.path)
        add(optional: finding.line)
        add(optional: finding.column)
    }

    mutating func add(_ test: TestResult) {
        add(test.suite)
        add(test.name)
        add(TestResult.Outcome.allCases.firstIndex(of: test.outcome) ?? 0)
        add(optional: test.duration) { writer, duration in
            writer.add(UInt64(clamping: duration.components.seconds))
            writer.add(UInt64(clamping: duration.components.attoseconds))
        }
        add(optional: test.message)
        add(optional: test.path)
        add(optional: test.line)
    }

    mutating func add(_ coverage: Coverage) {
        add(list: coverage.files) { writer, file in
            writer.add(file.path)
            writer.add(file.lines)
            writer.add(optional: file.functions) { $0.add($1) }
            writer.add(optional: file.branches) { $0.add($1) }
        }
    }

    private mutating func add(_ share: Coverage.Share) {
        add(share.covered)
        add(share.total)
    }

    /// Writes everything.
    mutating func add(_ content: ReportContent) {
        add(list: content.findings) { $0.add($1) }
        add(list: content.tests) { $0.add($1) }
        add(content.problems)
        add(content.notes)
        add(optional: content.coverage) { $0.add($1) }
        add(optional: content.subject.flatMap { ReportContent.Subject.allCases.firstIndex(of: $0) })
        add(optional: content.format.flatMap { ReportFormat.allCases.firstIndex(of: $0) })
        add(content.hasNoTests)
    }
}

extension WireReader {
    mutating func finding() throws(WireError) -> Finding {
        var finding = Finding(category: try one(of: Finding.Category.allCases), message: try text())
        finding.rule = try text()
        finding.path = try optionalText()
        finding.line = try optionalPlace()
        finding.column = try optionalPlace()
        return finding
    }

    mutating func test() throws(WireError) -> TestResult {
        var test = TestResult(suite: try text(), name: try text(), outcome: try one(of: TestResult.Outcome.allCases))
        test.duration = try optional { (reader) throws(WireError) in
            Duration(
                secondsComponent: Int64(clamping: try reader.number()),
                // The fraction is less than a second.
                attosecondsComponent: Int64(clamping: try reader.number() % 1_000_000_000_000_000_000))
        }
        test.message = try optionalText()
        test.path = try optionalText()
        test.line = try optionalPlace()
        return test
    }

    mutating func coverage() throws(WireError) -> Coverage {
        Coverage(
            files: try list { (reader) throws(WireError) in
                var file = Coverage.File(path: try reader.text(), lines: try reader.share())
                file.functions = try reader.optional { (reader) throws(WireError) in try reader.share() }
                file.branches = try reader.optional { (reader) throws(WireError) in try reader.share() }
                return file
            })
    }

    private mutating func share() throws(WireError) -> Coverage.Share {
        let covered = try int()
        return Coverage.Share(covered: covered, total: try int())
    }

    mutating func findings() throws(WireError) -> [Finding] {
        try list { (reader) throws(WireError) in try reader.finding() }
    }

    mutating func tests() throws(WireError) -> [TestResult] {
        try list { (reader) throws(WireError) in try reader.test() }
    }

    mutating func content() throws(WireError) -> ReportContent {
        var content = ReportContent(findings: try findings(), tests: try tests())
        content.problems = try textList()
        content.notes = try textList()
        content.coverage = try optional { (reader) throws(WireError) in try reader.coverage() }
        content.subject = try optional { (reader) throws(WireError) in
            try reader.one(of: ReportContent.Subject.allCases)
        }
        content.format = try optional { (reader) throws(WireError) in try reader.one(of: ReportFormat.allCases) }
        content.hasNoTests = try flag()
        return content
    }
}
