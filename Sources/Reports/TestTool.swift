/// A test tool whose reports say which tool wrote them, and whose tests' output is known to be apart from other tools' consoles.
enum TestTool: Sendable, Hashable {
    /// `go test -json`, whose report holds what its tests print.
    case go
    /// pytest's JUnit, of whose sessions the console shows beginning and end.
    case pytest
}

extension ReportFormat {
    /// The tool that alone writes the format; `nil` for any other format.
    var tool: TestTool? { self == .goTestJSON ? .go : nil }
}
