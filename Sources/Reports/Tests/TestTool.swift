/// A test tool whose reports identify it, and whose tests' output can be separated from other tools' consoles.
enum TestTool: Sendable, Hashable {
    /// `go test -json`, whose report contains the output of its tests.
    case go
    /// pytest's JUnit. The console shows the beginning and the end of its sessions.
    case pytest
}

extension ReportFormat {
    /// The tool that alone writes the format; `nil` for any other format.
    var tool: TestTool? { self == .goTestJSON ? .go : nil }
}
