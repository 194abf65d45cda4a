import Model

/// Reads the Test Anything Protocol, versions 12 to 14, from a file or from a console.
package struct TAPReader: Sendable {
    private var run: TAPRun
    private let needsVersion: Bool
    private var hasVersion = false

    /// - Parameter needsVersion: Whether all before a line `TAP version N` is other output: on a console, where a program may
    ///   print `ok` for other reasons.
    package init(root: SourceRoot, needsVersion: Bool = false) {
        run = TAPRun(root: root)
        self.needsVersion = needsVersion
    }

    /// Takes what a line tells; with `needsVersion` nothing before the version.
    package mutating func take(_ line: LogLine) {
        if needsVersion, !hasVersion {
            guard line.contains(Self.versions) else { return }
            guard case .version = TAPLine(Substring(line.text)) else { return }
            hasVersion = true
        }
        run.take(line.text)
    }

    /// The tests; nothing when no line was TAP.
    package mutating func finish() -> ReportContent? { run.isTAP ? run.content() : nil }

    /// The report's tests in their order.
    ///
    /// A test with subtests is not counted itself; they are, with its name for their suite, and one that failed stays failed
    /// whatever its parent says. TAP's two directives: `# SKIP` is skipped, `not ok … # TODO` a known issue. A missing plan, a plan that is not
    /// met, a number out of it and `Bail out!` are problems: a program that ended early prints nothing else wrong.
    package static func read(_ bytes: [UInt8], root: SourceRoot) -> ReportContent {
        var reader = TAPReader(root: root)
        LogLines.forEach(in: bytes) { reader.take($0) }
        return reader.finish() ?? .unreadable("no line of it is TAP")
    }

    private static let versions: Needles = ["TAP version ", "TAP Version "]
}
