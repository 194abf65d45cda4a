/// A reader of a console that finds the last crash of a test command's process.
///
/// XCTest's process runs before Swift Testing's, so an earlier crash is discarded when Swift Testing's run starts.
package struct CrashReader: Sendable {
    private static let begin: Needles = ["Test run started"]
    private static let needles: Needles = [
        "Fatal error:", "*** Signal ", "xited with unexpected signal code ", "Test run started",
    ]
    private static let root = SourceRoot(mountedAt: "/")

    private var crash = CrashText()

    package init() {}

    /// Reads a line. Most lines are ignored.
    package mutating func consume(_ line: LogLine) {
        guard line.contains(Self.needles) else { return }
        if line.contains(Self.begin) { crash = CrashText() } else { crash.consume(line.text, root: Self.root) }
    }

    /// Returns a text such as `ended by signal 4 (SIGILL): Fatal error: Index out of range`; `nil` if the console shows no crash.
    package func finish() -> String? { crash.message }

    /// Returns the last crash in a console that is in memory; `nil` if it shows none.
    static func last(in console: [UInt8]) -> String? {
        var reader = CrashReader()
        LogLines.forEach(in: console) { reader.consume($0) }
        return reader.finish()
    }
}
