import Model

/// The console of `swift test`, kept in a file.
enum SwiftTestLog {
    /// The tests of XCTest and of Swift Testing. A log that shows none is a problem.
    static func read(_ bytes: [UInt8], root: SourceRoot) -> ReportContent {
        let tests = TestMerge.merge(
            [XCTestConsoleReader.tests(in: bytes, root: root), SwiftTestingConsoleReader.tests(in: bytes, root: root)],
            end: CommandEnd(exit: nil, console: bytes))
        return tests.isEmpty ? .unreadable("a console of swift test without a test") : ReportContent(tests: tests)
    }
}
