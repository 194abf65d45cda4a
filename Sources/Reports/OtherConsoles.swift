/// Reads the tests of tools that print them: `go test`, `cargo test`, `ctest`, and TAP that begins with its version.
package struct OtherConsoles: Sendable {
    private var go: GoTestReader
    private var cargo: CargoTestReader
    private var ctest: CTestConsoleReader
    private var tap: TAPReader

    package init(root: SourceRoot) {
        go = GoTestReader(root: root)
        cargo = CargoTestReader(root: root)
        ctest = CTestConsoleReader(root: root)
        tap = TAPReader(root: root, needsVersion: true)
    }

    /// Takes what a line tells; most lines tell nothing.
    package mutating func take(_ line: LogLine) {
        go.take(line)
        cargo.take(line)
        ctest.take(line)
        tap.take(line)
    }

    /// What each tool that was there told; most consoles tell of none.
    package mutating func finish() -> [ReportContent] {
        [ctest.finish(), cargo.finish(), go.finish(), tap.finish()].compactMap { $0 }
    }
}
