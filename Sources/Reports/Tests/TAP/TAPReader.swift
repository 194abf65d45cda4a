import Model

/// A reader of the Test Anything Protocol, versions 12 to 14, from a file or from a console.
package struct TAPReader: Sendable {
    private var run: TAPRun
    private let needsVersion: Bool
    private var hasVersion = false
    /// A plan on a console without a version, whose first point has not come yet.
    private var plan: String?
    /// Whether the TAP has no version, so that only points with a number are its own.
    private(set) var isNumbered = false

    /// - Parameter needsVersion: Whether lines before `TAP version N` are other output. It is set for consoles, where a program may print `ok` for
    ///   other reasons. A plan `1..N` followed by point 1 is accepted as well, since bats and older programs write no version.
    package init(root: SourceRoot, needsVersion: Bool = false) {
        run = TAPRun(root: root)
        self.needsVersion = needsVersion
    }

    /// Reads a line. With `needsVersion`, lines before the version or a plan are ignored.
    package mutating func consume(_ line: LogLine) {
        guard needsVersion, !hasVersion else { return run.consume(line.text) }
        if line.contains(Self.versions), case .version = TAPLine(Substring(line.text)) {
            hasVersion = true
            return run.consume(line.text)
        }
        takeNumbered(line)
    }

    private mutating func takeNumbered(_ line: LogLine) {
        let isPlan = line.begins(with: "1..") || line.begins(with: "\u{1B}")
        guard isPlan || isNumbered || plan != nil && Self.mayBePoint(line) else { return }
        let text = line.text
        switch TAPLine(Substring(text)) {
        case .plan(1, 1..., nil): plan = text
        case .point(let point) where plan != nil && point.number == 1:
            if let plan { run.consume(plan) }
            (plan, isNumbered) = (nil, true)
            run.consume(text)
        case .point(let point) where point.number == nil: break
        case .plan, .version: break
        default: if isNumbered { run.consume(text) }
        }
    }

    private static func mayBePoint(_ line: LogLine) -> Bool {
        line.begins(with: "ok 1") || line.begins(with: "not ok 1") || line.begins(with: "\u{1B}")
    }

    /// Returns the tests; `nil` if no line was TAP.
    package mutating func finish() -> ReportContent? { run.isTAP ? run.content() : nil }

    /// Returns the report's tests in their order.
    ///
    /// A test with subtests is not counted itself. Its subtests are, with its name as their suite, and a failed subtest stays failed regardless of
    /// its parent. TAP has two directives: `# SKIP` means skipped, and `not ok … # TODO` is a known issue. A missing plan, a plan that is not met, a
    /// number outside of the plan and `Bail out!` are problems, since a program that ended early may show no other error.
    package static func read(_ bytes: [UInt8], root: SourceRoot) -> ReportContent {
        var reader = TAPReader(root: root)
        LogLines.forEach(in: bytes) { reader.consume($0) }
        return reader.finish() ?? .unreadable("no line of it is TAP")
    }

    private static let versions: Needles = ["TAP version ", "TAP Version "]
}
