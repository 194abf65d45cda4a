/// A reader of the printed results of other test tools: `go test`, `cargo test`, `ctest`, TAP that begins with its version or a plan, and the tools
/// of `SummaryConsoles`.
package struct OtherConsoles: Sendable {
    private var go: GoTestReader
    private var cargo: CargoTestReader
    private var ctest: CTestConsoleReader
    private var tap: TAPReader
    private var summaries: SummaryConsoles
    private var pytest = PytestSessions()
    /// The tools whose tests are in reports. Only those of other tools are read here.
    private let reported: Set<TestTool>
    /// Lines read while a Go test was running. They are the test's output, unless it never ends: then the other readers read them.
    private var held: [UInt8] = []

    /// The most bytes of lines that are held; further lines are dropped.
    private static let maximumHeldBytes = 8 << 20

    package init(root: SourceRoot) { self.init(root: root, beside: []) }

    /// - Parameter reported: The tools whose tests are in reports. Only those of other tools are read.
    init(root: SourceRoot, beside reported: Set<TestTool>) {
        self.reported = reported
        go = GoTestReader(root: root)
        cargo = CargoTestReader(root: root)
        ctest = CTestConsoleReader(root: root)
        tap = TAPReader(root: root, needsVersion: true)
        summaries = SummaryConsoles(root: root)
    }

    /// Reads a line. Most lines are ignored.
    ///
    /// While a test of one tool is running, lines that look like another tool's are that test's output. A test that never ends is itself a failure.
    /// - Parameter isWithinTest: Whether a test of another tool is running.
    package mutating func consume(_ line: LogLine, isWithinTest: Bool = false) {
        guard !isWithinTest else { return }
        pytest.consume(line)
        if reported.contains(.pytest), pytest.isWithin { return }
        let wasWithinTest = go.isWithinTest
        if !cargo.isWithinTest, !ctest.isWithinTest { go.consume(line) }
        if wasWithinTest {
            if go.isWithinTest { return hold(line) }
            return held.removeAll(keepingCapacity: true)
        }
        takeOthers(line)
    }

    private mutating func takeOthers(_ line: LogLine) {
        if cargo.isWithinTest { return cargo.consume(line) }
        if ctest.isWithinTest { return ctest.consume(line) }
        cargo.consume(line)
        ctest.consume(line)
        tap.consume(line)
        summaries.consume(line)
    }

    private mutating func hold(_ line: LogLine) {
        guard held.count + line.count < Self.maximumHeldBytes else { return }
        held.append(contentsOf: line.bytes)
        held.append(0x0A)
    }

    /// Passes the held lines to the other readers: the Go test never ended, or only seemed to be one.
    private mutating func readHeld() {
        let lines = held
        held = []
        LogLines.forEach(in: lines) { takeOthers($0) }
    }

    /// Returns the results of each tool that ran; empty for most consoles.
    package mutating func finish() -> [ReportContent] {
        readHeld()
        // Without complete pytest sessions, it is unknown which lines their tests printed.
        if reported.contains(.pytest), !pytest.areComplete { return [] }
        // With `-v`, prove prints the TAP of its files, whose results it also states itself.
        let shown = tap.isNumbered && summaries.hasProve ? nil : tap.finish()
        let cutOff = pytest.problem.map { ReportContent(problems: [$0]) }
        return [ctest.finish(), cargo.finish(), reported.contains(.go) ? nil : go.finish(), shown, cutOff]
            .compactMap { $0 } + summaries.finish()
    }
}
