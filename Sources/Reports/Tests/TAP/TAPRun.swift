import Model

/// The state of reading TAP, line by line.
struct TAPRun: Sendable {
    /// A document: the outermost one, or a point's children. The children precede their point, or follow it in braces.
    private struct Level: Sendable {
        var plan: (first: Int, last: Int)?
        var numbers: Set<Int> = []
        var points = 0
        var leaves: [TestResult] = []
        /// The last point's index in `leaves`, for the diagnostics that follow it.
        var last: Int?
        /// The problem of the document itself.
        var problem: String?
        /// The point whose children these are, if it preceded them.
        var parent: TAPPoint?

        /// Whether it has a plan, and as many points as planned.
        var isMet: Bool { plan.map { max(0, $0.last - $0.first + 1) == points } ?? false }
    }

    private enum Mode { case document, yaml(spaces: Int) }

    /// The most bytes of lines of YAML that are held until it ends.
    private static let maximumDoubtfulBytes = 1 << 20
    /// The deepest supported nesting; deeper lines are not TAP.
    private static let maximumDepth = 50
    /// The most problems, and the most notes, of all documents.
    private static let maximumSentences = 100

    private let root: SourceRoot
    private var levels: [Level] = [Level()]
    /// The tests of the previous documents.
    private var ended: [TestResult] = []
    private var mode = Mode.document
    /// The lines of open YAML, from the first that could be a child's result. They belong to the YAML, unless it has no end.
    private var doubtful: [String] = []
    private var doubtfulBytes = 0
    private var isReplaying = false
    private var count = 0
    private var problems: [String] = []
    private var notes: [String] = []
    /// Whether a line has shown that this is TAP.
    private(set) var isTAP = false
    private var isOver = false
    private var isStrict = false

    init(root: SourceRoot) { self.root = root }

    mutating func consume(_ line: String) {
        let (level, spaces) = TAPLine.depth(line)
        let text = line.dropFirst(spaces)
        if text.isEmpty || isOver { return }
        if case .yaml(let indent) = mode {
            if takeYAML(line, text, spaces: spaces, indent: indent) { return }
            // The YAML ended early, by another program's line or because a test ended during it.
            breakOff()
        }
        let parsed = TAPLine(text)
        if parsed == .yamlStart, spaces % 4 == 2, (spaces - 2) / 4 < levels.count, levels[(spaces - 2) / 4].last != nil
        {
            return mode = .yaml(spaces: spaces)
        }
        guard let level, level < Self.maximumDepth else { return }
        consume(parsed, level: level)
    }

    /// Reads a line of open YAML.
    /// - Returns: Whether the line can belong to it. A line with less indentation cannot.
    private mutating func takeYAML(_ line: String, _ text: Substring, spaces: Int, indent: Int) -> Bool {
        guard spaces >= indent else { return false }
        if spaces == indent, text.trimmingSuffix(while: \.isWhitespace) == "..." {
            // The apparent results were text within the YAML.
            for line in doubtful { diagnose(line.drop { $0 == " " }) }
            (doubtful, doubtfulBytes, mode) = ([], 0, .document)
            return true
        }
        guard !doubtful.isEmpty || isResult(text, spaces: spaces, within: indent) else {
            diagnose(text)
            return true
        }
        // Each line is read again at most once.
        guard !isReplaying, doubtfulBytes + line.utf8.count <= Self.maximumDoubtfulBytes else { return false }
        doubtfulBytes += line.utf8.count
        doubtful.append(line)
        return true
    }

    /// Ends YAML without an end. From the first line that could be a child's result, the lines are not YAML.
    private mutating func breakOff() {
        mode = .document
        guard !doubtful.isEmpty else { return }
        let lines = doubtful
        (doubtful, doubtfulBytes, isReplaying) = ([], 0, true)
        for line in lines { consume(line) }
        isReplaying = false
    }

    /// Returns whether a line of YAML can be a child's point or plan.
    private func isResult(_ text: Substring, spaces: Int, within indent: Int) -> Bool {
        guard spaces == indent + 2 else { return false }
        switch TAPLine(text) {
        case .point, .plan: return true
        default: return false
        }
    }

    private mutating func consume(_ line: TAPLine, level: Int) {
        switch line {
        case .version(let number):
            isTAP = true
            if level == 0, levels[0].points > 0 || levels[0].plan != nil { endDocument() }
            if number > 14, problems.isEmpty { notes.append("TAP version \(number) is read as version 14") }
        case .plan(let first, let last, let skip):
            if level == 0 { isTAP = true }
            if level == 0, levels[0].isMet { endDocument() }
            open(level)
            if levels[level].plan != nil { levels[level].problem = "it has two plans" }
            levels[level].plan = (first, last)
            if last < first, level == 0 { add(note: "all tests skipped" + (skip.map { ": " + $0 } ?? "")) }
        case .point(let point):
            if level == 0 { isTAP = true }
            add(point, level: level)
        case .bailOut(let reason):
            isTAP = true
            isOver = true
            problems.append("the tests bailed out" + (reason.isEmpty ? "" : ": " + TextLimit.cut(reason, toBytes: 500)))
        case .comment(let text): comment(text, level: level)
        case .opening:
            // Braces may follow a point's diagnostics.
            guard level < levels.count, let last = levels[level].last else { return }
            close(to: level)
            let parent = levels[level].leaves.remove(at: last)
            levels[level].last = nil
            levels.append(Level(parent: TAPPoint(parent)))
        case .closing: if level + 1 < levels.count, levels[level + 1].parent != nil { close(to: level) }
        case .pragma(let isStrict): self.isStrict = isStrict
        case .other where isStrict:
            if problems.isEmpty { problems.append("a line is not TAP, which its pragma +strict forbids") }
        case .yamlStart, .other: break
        }
    }

    private mutating func open(_ level: Int) {
        while levels.count <= level { levels.append(Level()) }
    }

    private mutating func add(_ point: TAPPoint, level: Int) {
        guard count < ReportContent.maximumItems else {
            if !isOver { problems.append("more than \(ReportContent.maximumItems) tests; the others are not read") }
            isOver = true
            return
        }
        count += 1
        if level == 0, point.number == 1, levels[0].points > 0, levels[0].isMet { endDocument() }
        open(level)
        var point = point
        if point.number == nil { point.number = levels[level].points + 1 }
        if levels.count > level + 1, levels[level + 1].parent == nil {
            // The children preceded their point.
            levels[level + 1].parent = point
            close(to: level)
            return note(point, level: level)
        }
        close(to: level)
        note(point, level: level)
        if point.opensChildren {
            levels[level].last = nil
            levels.append(Level(parent: point))
        } else {
            levels[level].last = levels[level].leaves.count
            levels[level].leaves.append(point.result)
        }
    }

    /// Counts the point for the comparison with its document's plan.
    private mutating func note(_ point: TAPPoint, level: Int) {
        levels[level].points += 1
        let number = point.number ?? levels[level].points
        if !levels[level].numbers.insert(number).inserted, levels[level].problem == nil {
            levels[level].problem = "test \(number) is there twice"
        }
    }

    private mutating func comment(_ text: String, level: Int) {
        guard level < levels.count, let last = levels[level].last, levels[level].leaves[last].outcome == .failed else {
            return
        }
        append(text, to: last, of: level)
        // The form of Test::More is `at t/basic.t line 12.`
        if levels[level].leaves[last].path == nil, let place = Self.perlPlace(text) {
            levels[level].leaves[last].path = root.shown(place.path)
            levels[level].leaves[last].line = place.line
        }
    }

    private mutating func diagnose(_ text: Substring) {
        guard let level = levels.lastIndex(where: { $0.last != nil }), let last = levels[level].last else { return }
        let place = TAPDiagnostics.place(text)
        if let path = place.path, levels[level].leaves[last].path == nil {
            levels[level].leaves[last].path = root.shown(path)
        }
        if let line = place.line, levels[level].leaves[last].line == nil { levels[level].leaves[last].line = line }
        if let duration = TAPDiagnostics.duration(text) { levels[level].leaves[last].duration = duration }
        if levels[level].leaves[last].outcome == .failed { append(String(text), to: last, of: level) }
    }

    private mutating func append(_ text: String, to index: Int, of level: Int) {
        levels[level].leaves[index].message.append(line: text)
    }

    /// Ends all documents below a level; their tests become tests of that level.
    private mutating func close(to level: Int) {
        while levels.count > level + 1 {
            let closed = levels.removeLast()
            levels[levels.count - 1].leaves += Self.results(of: closed)
            levels[levels.count - 1].last = nil
        }
    }

    /// Returns a document's tests, with the name of the point that summarizes them as their suite.
    ///
    /// The point itself is a test only if its children do not explain it: it has none, or it failed and none of them did.
    private static func results(of level: Level) -> [TestResult] {
        guard let parent = level.parent else { return level.leaves }
        var results = level.leaves
        if let problem = level.problem ?? wrongPlan(of: level) {
            results.append(TestResult(suite: "", name: "(plan)", outcome: .failed, message: problem))
        }
        for index in results.indices {
            let suite = results[index].suite
            results[index].suite = TextLimit.cut(
                suite.isEmpty ? parent.name : parent.name + " > " + suite, toBytes: TextLimit.nameBytes)
            guard results[index].outcome == .failed else { continue }
            if parent.todo != nil { results[index].outcome = .knownIssue }
            if parent.skip != nil { results[index].outcome = .skipped }
        }
        let sum = parent.result
        if results.isEmpty || (sum.outcome == .failed && !results.contains { $0.outcome == .failed }) {
            results.append(sum)
        }
        return results
    }

    private static func wrongPlan(of level: Level) -> String? {
        guard let plan = level.plan else { return nil }
        let planned = max(0, plan.last - plan.first + 1)
        // A plan that begins at 0 is not part of the format; `0..3` is written for three tests and for four.
        let isMeant = plan.first == 0 && level.points == plan.last
        if planned != level.points, !isMeant {
            return "\(planned.counting("test")) planned, but \(level.points) came"
        }
        guard planned > 0, let stray = level.numbers.filter({ $0 < plan.first || $0 > plan.last }).min() else {
            return nil
        }
        return "test \(stray) is not in the plan \(plan.first)..\(plan.last)"
    }

    /// Ends a document. Programs that run one after the other write one document each, with or without a version. Each is compared with its own plan.
    private mutating func endDocument() {
        close(to: 0)
        let document = levels[0]
        if !isOver, document.plan == nil { add(problem: "the TAP has no plan: it may have broken off") }
        if let problem = document.problem ?? (isOver ? nil : Self.wrongPlan(of: document)) {
            add(problem: "the TAP contradicts itself: " + problem)
        }
        ended += document.leaves
        levels = [Level()]
        isStrict = false
    }

    /// Adds a sentence that keeps the tests from succeeding. Only the first such sentences of many documents are kept.
    private mutating func add(problem: String) {
        if problems.count < Self.maximumSentences { problems.append(problem) }
    }

    private mutating func add(note: String) {
        if notes.count < Self.maximumSentences { notes.append(TextLimit.cut(note, toBytes: 1000)) }
    }

    mutating func content() -> ReportContent {
        breakOff()
        endDocument()
        return ReportContent(tests: JUnitRetries.numbered(ended), problems: problems, notes: notes)
    }

    private static func perlPlace(_ text: String) -> (path: String, line: Int)? {
        guard text.hasPrefix("at "), let range = text.range(ofLast: " line "),
            let line = TAPLine.number(text[range.upperBound...].prefix { $0.isASCII && $0.isNumber })
        else { return nil }
        let path = text[..<range.lowerBound].dropFirst(3)
        return path.isEmpty ? nil : (String(path), line)
    }
}
