/// Reads from a console how a test command's process crashed last.
///
/// XCTest's process comes before Swift Testing's, so a crash before the latter's run is not its.
package struct CrashReader: Sendable {
    private static let begin: Needles = ["Test run started"]
    private static let needles: Needles = [
        "Fatal error:", "*** Signal ", "xited with unexpected signal code ", "Test run started",
    ]
    private static let root = SourceRoot(mountedAt: "/")

    private var crash = CrashText()

    package init() {}

    /// Reads a line. Most lines are ignored.
    package mutating func take(_ line: LogLine) {
        guard line.contains(Self.needles) else { return }
        if line.contains(Self.begin) { crash = CrashText() } else { crash.take(line.text, root: Self.root) }
    }

    /// `ended by signal 4 (SIGILL): Fatal error: Index out of range`; `nil` if the console told of no crash.
    package func finish() -> String? { crash.message }

    /// The same of a console that is in memory.
    static func last(in console: [UInt8]) -> String? {
        var reader = CrashReader()
        LogLines.forEach(in: console) { reader.take($0) }
        return reader.finish()
    }
}
