/// Reads the tests of tools that print them: `go test`, `cargo test`, `ctest`, TAP that begins with its version or a plan, and the
/// tools of `SummaryConsoles`.
package struct OtherConsoles: Sendable {
    private var go: GoTestReader
    private var cargo: CargoTestReader
    private var ctest: CTestConsoleReader
    private var tap: TAPReader
    private var summaries: SummaryConsoles
    private var pytest = PytestSessions()
    /// The tools whose tests reports have, so that only those of others are read.
    private let reported: Set<TestTool>
    /// Lines that came while a test of Go was running, for the other readers: its output, unless it never ends.
    private var held: [UInt8] = []

    /// The most bytes of lines that are held; more of them are dropped.
    private static let maximumHeldBytes = 8 << 20

    package init(root: SourceRoot) { self.init(root: root, beside: []) }

    /// - Parameter reported: The tools whose tests reports have. Those of other tools are read.
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
    /// While a test of one tool is running, what another seems to say is that test's output. One that never ends is red itself.
    /// - Parameter isWithinTest: Whether a test of another tool is running.
    package mutating func take(_ line: LogLine, isWithinTest: Bool = false) {
        guard !isWithinTest else { return }
        pytest.take(line)
        if reported.contains(.pytest), pytest.isWithin { return }
        let wasWithinTest = go.isWithinTest
        if !cargo.isWithinTest, !ctest.isWithinTest { go.take(line) }
        if wasWithinTest {
            if go.isWithinTest { return hold(line) }
            return held.removeAll(keepingCapacity: true)
        }
        takeOthers(line)
    }

    private mutating func takeOthers(_ line: LogLine) {
        if cargo.isWithinTest { return cargo.take(line) }
        if ctest.isWithinTest { return ctest.take(line) }
        cargo.take(line)
        ctest.take(line)
        tap.take(line)
        summaries.take(line)
    }

    private mutating func hold(_ line: LogLine) {
        guard held.count + line.count < Self.maximumHeldBytes else { return }
        held.append(contentsOf: line.bytes)
        held.append(0x0A)
    }

    /// A test of Go that never ended, or only looked like one: what came after its start are other tools' lines.
    private mutating func readHeld() {
        let lines = held
        held = []
        LogLines.forEach(in: lines) { takeOthers($0) }
    }

    /// What each tool that was there told; most consoles tell of none.
    package mutating func finish() -> [ReportContent] {
        readHeld()
        // Without a whole session, nobody knows which lines its tests printed.
        if reported.contains(.pytest), !pytest.areComplete { return [] }
        // With `-v` prove shows the TAP of its files, of which it tells itself.
        let shown = tap.isNumbered && summaries.hasProve ? nil : tap.finish()
        let cutOff = pytest.problem.map { ReportContent(problems: [$0]) }
        return [ctest.finish(), cargo.finish(), reported.contains(.go) ? nil : go.finish(), shown, cutOff]
            .compactMap { $0 } + summaries.finish()
    }
}
